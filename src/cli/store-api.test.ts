// Reading without a daemon: pages by position, the ledger as NDJSON and CSV, cells that a spreadsheet must not run.
import { describe, expect, it } from 'vitest'
import type { LedgerEntry, TurnFilter } from '../contract/index.ts'
import { type Answers, fakeContext } from '../server/fixtures/fake-context.ts'
import { turnRow } from '../server/fixtures/rows.ts'
import { createStoreApi } from './store-api.ts'

const apiOn = (answers: Answers) => createStoreApi({ ...fakeContext(answers).context, live: null })

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

describe('the API on the store', () => {
  const all = Array.from({ length: 1_250 }, (_, n) => turnRow(1_250 - n))
  const filters: TurnFilter[] = []
  const api = apiOn({
    turns: async (filter: TurnFilter) => {
      filters.push(filter)
      const from = filter.beforeSeq ?? Number.POSITIVE_INFINITY
      return all.filter((turn) => turn.seq < from).slice(0, filter.limit)
    },
  })

  it('reads everything page by page, each turn once', async () => {
    const read = await gathered(api.list('GET /api/turns', { agent: 'kate' }, null))
    expect(read.map(({ id }) => id)).toEqual(all.map(({ id }) => id))
    expect(filters.every(({ agent, limit }) => agent === 'kate' && limit <= 500)).toBe(true)
  })

  it('stops at the limit', async () => {
    expect(await gathered(api.list('GET /api/turns', {}, 501))).toHaveLength(501)
    expect(await gathered(api.list('GET /api/turns', {}, 1))).toHaveLength(1)
  })
})

describe('the export', () => {
  const entries = Array.from({ length: 1_001 }, (_, n) => entry(n + 1))
  const on = (list: readonly LedgerEntry[]) =>
    apiOn({
      ledger: async ({ afterSeq, limit }: { readonly afterSeq: number; readonly limit: number }) =>
        list.filter(({ seq }) => seq > afterSeq).slice(0, limit),
    })

  it('is one JSON object a line', async () => {
    const text = (await gathered(on(entries).stream('GET /api/audit/export', { format: 'ndjson' }))).join('')
    expect(
      text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual(entries)
    expect(await gathered(on([]).stream('GET /api/audit/export', { format: 'ndjson' }))).toEqual([])
  })

  it('is CSV with quoted cells, and none that is a formula', async () => {
    const evil = entry(1, { ref: '=HYPERLINK("x")', detail: 'a,"b"\nc' })
    const text = (await gathered(on([evil]).stream('GET /api/audit/export', { format: 'csv' }))).join('')
    expect(text).toBe(
      'seq,chain,n,at,kind,ref,integration,from,to,reason,count,digest,detail,mac\r\n' +
        '1,box/1,1,1,turn,"\'=HYPERLINK(""x"")",demo,,queued,,1,d,"a,""b""\nc",m\r\n',
    )
  })
})
