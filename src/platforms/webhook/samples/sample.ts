// One event of a sender as its documentation shows it, shortened, with names replaced: what `hooks test` sends and the
// tests read. Headers without those of the proof, which is made when it is sent.
export interface Sample {
  readonly headers: Readonly<Record<string, string>>
  readonly body: unknown
}

export type Samples = Readonly<Record<string, Sample>>

export const JSON_TYPE = { 'content-type': 'application/json' }
