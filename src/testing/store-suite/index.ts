// The contract suite of the store: every back end runs all of it.
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
import { describeOutlet } from './outlet.ts'
import { describePeople } from './people.ts'
import { describeProperties } from './property.ts'
import { describeReading } from './reading.ts'
import { describeSending } from './sending.ts'
import { describeTakeovers } from './takeovers.ts'
import { describeTurnEndings } from './turn-endings.ts'
import { describeTurnEvents } from './turn-events.ts'
import { describeTurnSteps } from './turn-steps.ts'

/** Runs the suite against the store that `make` opens. `propertyRuns`: how many random sequences. */
export function describeStore(
  name: string,
  make: MakeStoreFixture,
  options: { readonly propertyRuns: number },
): void {
  describe(`[S12.one-suite] [I2.suite-store] ${name}`, () => {
    describeIntake(make)
    describeEffects(make)
    describeDispatch(make)
    describeHanding(make)
    describeTurnEndings(make)
    describeOutlet(make)
    describeSending(make)
    describeLaterWords(make)
    describeClaims(make)
    describeTakeovers(make)
    describeConversations(make)
    describePeople(make)
    describeReading(make)
    describeHistory(make)
    describeTurnEvents(make)
    describeTurnSteps(make)
    describeFiles(make)
    describeAudit(make)
    describeKeeping(make)
    describeNodes(make)
    describeCluster(make)
    describeProperties(make, options.propertyRuns)
  })
}

export type { StoreFixture } from './fixture.ts'
