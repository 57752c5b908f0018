// Turns that an agent has, phrased like their partial indexes. Resting turns (acknowledged or one-way) delay no other
// turn and may be many, so they have their own indexes.
export const NOT_RESTING = `(reason IS NULL OR reason NOT IN ('acknowledged','one_way'))`
export const IN_FLIGHT = `state IN ('handed','seen') AND ${NOT_RESTING}`
const ACKNOWLEDGED = `state IN ('handed','seen') AND reason = 'acknowledged'`
export const ONE_WAY = `state IN ('handed','seen') AND reason = 'one_way'`

/** All turns that an agent has. Each condition is queried separately, so that its index is used. */
export const HANDED_OR_SEEN = [IN_FLIGHT, ACKNOWLEDGED, ONE_WAY] as const
