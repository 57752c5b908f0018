// How the place that shows a text sets off a part of it: in colour, or in bold. The text says which part that is.

export type Mark = (text: string) => string
