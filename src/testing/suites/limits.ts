// Waits of the platform suite. Each ends before its test times out, with words that lead to the fault.
import { expect } from 'vitest'
import type { Delivered, InboundCase, PlatformFixture } from './platform-suite.ts'

/** The limit of a whole step. It is longer than the waits in it. */
export const STEP_MS = 60_000
const WAIT_MS = 8_000
const LOOK_MS = 25
const DELIVER_MS = 15_000
/** Less than the ten seconds after which the kit's link leaves a connection behind. */
const STOP_MS = 8_000

const CLOCK_HINT = 'If the fixture drives the clock of the adapter, give it `pass`.'

/** Waits until it holds, while time goes on. */
export async function eventually(
  { pass }: Pick<PlatformFixture, 'pass'>,
  holds: () => boolean,
  problem: string,
  facts: () => unknown = () => '',
): Promise<void> {
  const endsAt = Date.now() + WAIT_MS
  for (;;) {
    await pass?.()
    if (holds()) return
    if (Date.now() >= endsAt) break
    await sleep(LOOK_MS)
  }
  const hint = pass === undefined ? ` ${CLOCK_HINT}` : ''
  expect.fail(`${problem} (waited ${WAIT_MS / 1_000} s).${hint} ${JSON.stringify(facts())}`)
}

/** Delivers a payload, and checks what the fixture returns. */
export async function delivered(one: InboundCase): Promise<Delivered> {
  const problem = `deliver of "${one.name}" did not end: neither a confirmation nor a refusal came`
  const result: Partial<Delivered> | undefined = await within(
    DELIVER_MS,
    `${problem}. ${CLOCK_HINT}`,
    one.deliver(),
  )
  const { acknowledged, sentBack } = result ?? {}
  if (typeof acknowledged !== 'boolean' || typeof sentBack !== 'string')
    expect.fail(`${one.name}: the fixture's deliver must return { acknowledged, sentBack }`)
  return { acknowledged, sentBack }
}

export async function stopped({ adapter }: Pick<PlatformFixture, 'adapter'>): Promise<void> {
  const problem = 'stop did not end: every wait and every call of the adapter must end with its signal'
  await within(STOP_MS, `${problem}. ${CLOCK_HINT}`, adapter.stop())
}

export const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

async function within<T>(ms: number, problem: string, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`${problem} (waited ${ms / 1_000} s)`)), ms)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}
