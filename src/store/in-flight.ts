// Turns that an agent has, in the words of their partial indexes. What rests (the agent acknowledged it, or it came one
// way) holds nobody up and may be a great deal, so it has indexes of its own.
export const NOT_RESTING = `(reason IS NULL OR reason NOT IN ('acknowledged','one_way'))`
export const IN_FLIGHT = `state IN ('handed','seen') AND ${NOT_RESTING}`
const ACKNOWLEDGED = `state IN ('handed','seen') AND reason = 'acknowledged'`
export const ONE_WAY = `state IN ('handed','seen') AND reason = 'one_way'`

/** All that an agent has. Each is asked for by itself, so that its index serves. */
export const HANDED_OR_SEEN = [IN_FLIGHT, ACKNOWLEDGED, ONE_WAY] as const
