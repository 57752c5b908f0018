// Turns in flight, in the words of their partial index. What rests (acknowledged by the agent, or come one way) is in nobody's way.
export const NOT_RESTING = `(reason IS NULL OR reason NOT IN ('acknowledged','one_way'))`
export const IN_FLIGHT = `state IN ('handed','seen') AND ${NOT_RESTING}`
