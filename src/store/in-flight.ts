// Turns in flight, in the words of their partial index. What rests (seen, acknowledged by the agent) is in nobody's way.
export const NOT_RESTING = `(reason IS NULL OR reason <> 'acknowledged')`
export const IN_FLIGHT = `state IN ('handed','seen') AND ${NOT_RESTING}`
