// A river whose platform keeps a history, and helpers for the scenarios of completeness.
import { createScriptedHistory } from '../../src/testing/scripted/scripted-history.ts'
import type { OpenRiver, River, RiverOptions } from './river.ts'

export const MINUTE = 60_000

export async function withHistory(open: OpenRiver, options: RiverOptions = {}) {
  let now = () => 1_700_000_000_000
  const history = createScriptedHistory(() => now())
  const river = await open({ ...options, platform: { ...options.platform, history } })
  now = () => river.now()
  return { river, history }
}

/** Lets the machine sleep, wake, and do what is due. */
export async function later(river: River, minutes: number): Promise<void> {
  await river.sleep(minutes * MINUTE)
  await river.pass(5_000)
}

export const complete = async (river: River, id = 'chat') =>
  (await river.operator().status()).integrations.find((one) => one.id === id)?.complete

export const counter = async (river: River, name: string, integration?: string) =>
  (await river.store().counters()).reduce(
    (sum, one) =>
      one.name === name && (integration ?? one.integration) === one.integration ? sum + one.count : sum,
    0,
  )
