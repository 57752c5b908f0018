// The parts of the parser's tokens that the builders read.

export interface Token {
  readonly type: string
  readonly tag: string
  readonly nesting: number
  readonly level: number
  readonly content: string
  readonly info: string
  readonly markup: string
  readonly map: readonly [number, number] | null
  readonly children: readonly Token[] | null
  attrGet(name: string): string | number | null
}
