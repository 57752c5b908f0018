// Reading without a daemon: pages by position, the ledger as NDJSON and CSV, cells that a spreadsheet must not run.
import { describe, expect, it } from 'vitest'
import { type LedgerEntry, type ReadDesk, rowId, type TurnFilter, type TurnView } from '../contract/index.ts'
import { createStoreReader } from './store-reader.ts'

const entry = (seq: number, more: Partial<LedgerEntry> = {}): LedgerEntry => ({
  seq,
  chain: 'box/1',
  n: seq,
  at: 1,
  kind: 'turn',
  ref: `t_${seq}`,
  integration: 'demo',
  from: '',
  to: 'queued',
  reason: '',
  count: 1,
  digest: 'd',
  detail: '',
  mac: 'm',
  ...more,
})

async function gathered<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = []
  for await (const item of items) all.push(item)
  return all
}

describe('the store reader', () => {
  const all = Array.from({ length: 1_250 }, (_, n) => ({ id: rowId('t', 'tag_x', 1_250 - n) }) as TurnView)
  const seqOf = (turn: TurnView) => Number.parseInt(turn.id.slice(turn.id.lastIndexOf('_') + 1), 36)
  const filters: TurnFilter[] = []
  const desk = {
    turns: async (filter: TurnFilter) => {
      filters.push(filter)
      const from = filter.beforeSeq ?? Number.POSITIVE_INFINITY
      return all.filter((turn) => seqOf(turn) < from).slice(0, filter.limit)
    },
  } as unknown as ReadDesk

  it('reads everything page by page, each turn once', async () => {
    const read = await gathered(createStoreReader(desk).turns({ limit: null, agent: 'kate' }))
    expect(read.map(({ id }) => id)).toEqual(all.map(({ id }) => id))
    expect(filters.every(({ agent, limit }) => agent === 'kate' && limit <= 500)).toBe(true)
  })

  it('stops at the limit', async () => {
    expect(await gathered(createStoreReader(desk).turns({ limit: 501 }))).toHaveLength(501)
    expect(await gathered(createStoreReader(desk).turns({ limit: 1 }))).toHaveLength(1)
  })
})

describe('the export', () => {
  const entries = Array.from({ length: 1_001 }, (_, n) => entry(n + 1))
  const desk = (list: readonly LedgerEntry[]) =>
    ({
      ledger: async (afterSeq: number, limit: number) =>
        list.filter(({ seq }) => seq > afterSeq).slice(0, limit),
    }) as unknown as ReadDesk

  it('is one JSON object a line', async () => {
    const text = (await gathered(createStoreReader(desk(entries)).exportAudit('ndjson'))).join('')
    expect(
      text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual(entries)
    expect(await gathered(createStoreReader(desk([])).exportAudit('ndjson'))).toEqual([])
  })

  it('is CSV with quoted cells, and none that is a formula', async () => {
    const evil = entry(1, { ref: '=HYPERLINK("x")', detail: 'a,"b"\nc' })
    const text = (await gathered(createStoreReader(desk([evil])).exportAudit('csv'))).join('')
    expect(text).toBe(
      'seq,chain,n,at,kind,ref,integration,from,to,reason,count,digest,detail,mac\r\n' +
        '1,box/1,1,1,turn,"\'=HYPERLINK(""x"")",demo,,queued,,1,d,"a,""b""\nc",m\r\n',
    )
  })
})
