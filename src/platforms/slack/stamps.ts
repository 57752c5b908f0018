// Slack's `ts`: seconds and six digits, unique in a channel. It is compared as whole microseconds, never as a float.
// Compatible servers may use fewer digits, or more.

const STAMP = /^(\d{1,12})\.(\d{1,9})$/

type Stamp = `${string}.${string}`

export function isStamp(value: unknown): value is Stamp {
  return typeof value === 'string' && STAMP.test(value)
}

/** Returns microseconds, which fit a number until the year 2255. */
export function stampMicros(ts: string): number {
  const [, seconds = '0', micros = '0'] = STAMP.exec(ts) ?? []
  return Number(seconds) * 1_000_000 + Number(micros.padEnd(6, '0').slice(0, 6))
}

export function stampMs(ts: string): number {
  return Math.floor(stampMicros(ts) / 1_000)
}

export function stampOfMs(ms: number): string {
  const whole = Math.max(0, Math.floor(ms))
  return `${Math.floor(whole / 1_000)}.${String(whole % 1_000).padStart(3, '0')}000`
}
