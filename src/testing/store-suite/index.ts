// The contract suite of the store. Every back end runs all of it.
import { describe } from 'vitest'
import { describeAudit } from './audit.ts'
import { describeClaims } from './claims.ts'
import { describeCluster } from './cluster.ts'
import { describeConversations } from './conversations.ts'
import { describeDispatch } from './dispatch.ts'
import { describeEffects } from './effects.ts'
import { describeFiles } from './files.ts'
import type { MakeStoreFixture } from './fixture.ts'
import { describeHanding } from './handing.ts'
import { describeHistory } from './history.ts'
import { describeIntake } from './intake.ts'
import { describeKeeping } from './keeping.ts'
import { describeLaterWords } from './later-words.ts'
import { describeNodes } from './nodes.ts'
import { describeOpenOutcomes } from './open-outcomes.ts'
import { describeOutlet } from './outlet.ts'
import { describePeople } from './people.ts'
import { describeProperties } from './property.ts'
import { describeReading } from './reading.ts'
import { describeSending } from './sending.ts'
import { describeTakeovers } from './takeovers.ts'
import { describeTurnEndings } from './turn-endings.ts'
import { describeTurnEvents } from './turn-events.ts'
import { describeTurnSteps } from './turn-steps.ts'

const PARTS: readonly ((make: MakeStoreFixture) => void)[] = [
  describeIntake,
  describeEffects,
  describeDispatch,
  describeHanding,
  describeTurnEndings,
  describeOutlet,
  describeSending,
  describeLaterWords,
  describeOpenOutcomes,
  describeClaims,
  describeTakeovers,
  describeConversations,
  describePeople,
  describeReading,
  describeHistory,
  describeTurnEvents,
  describeTurnSteps,
  describeFiles,
  describeAudit,
  describeKeeping,
  describeNodes,
  describeCluster,
]

export interface StoreSuiteOptions {
  /** The number of random sequences. */
  readonly propertyRuns: number
  /**
   * The share of the suite to run. If absent, all of it. A back end with slow tests splits the suite over several files
   * that run in parallel.
   */
  readonly share?: { readonly nth: number; readonly of: number }
}

/** Runs the suite against the store that `make` opens. */
export function describeStore(
  name: string,
  make: MakeStoreFixture,
  { propertyRuns, share = { nth: 1, of: 1 } }: StoreSuiteOptions,
): void {
  const { nth, of } = share
  const words = of === 1 ? name : `${name}, part ${nth} of ${of}`
  describe(`[S12.one-suite] [I2.suite-store] ${words}`, () => {
    const all = [...PARTS, (on: MakeStoreFixture) => describeProperties(on, propertyRuns)]
    for (const describePart of all.filter((_, at) => at % of === nth - 1)) describePart(make)
  })
}

export type { StoreFixture } from './fixture.ts'
