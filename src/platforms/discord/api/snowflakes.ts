// Discord's ids: whole numbers of 64 bits as text, which grow. On Discord they contain the time. On compatible servers
// they may not, so the history does not rely on that.

const EPOCH_MS = 1_420_070_400_000

type Snowflake = `${bigint}`

export function isSnowflake(value: unknown): value is Snowflake {
  return typeof value === 'string' && /^\d{1,20}$/.test(value)
}

/** Negative: the first one is older. */
export function compareIds(a: string, b: string): number {
  const [one, two] = [BigInt(a), BigInt(b)]
  return one < two ? -1 : one > two ? 1 : 0
}

export function snowflakeMs(id: string): number {
  return Number(BigInt(id) >> 22n) + EPOCH_MS
}
