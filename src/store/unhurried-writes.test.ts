// Unhurried writes share the next commit, on both stores. A single one is still written.
import { describe, expect, it } from 'vitest'
import type { Store } from '../contract/index.ts'
import { item, mustTake, mustTakeSend, queueOne, send } from '../testing/store-suite/fixture.ts'
import { createPostgresFixture } from './postgres/fixtures/postgres-fixture.ts'
import { createSqliteFixture } from './sqlite/fixtures/sqlite-fixture.ts'

const LANE = 'demo:c1'
const AN_HOUR = 3_600_000

async function commits(store: Store): Promise<number> {
  const entries = await store.ledger({ afterSeq: 0, limit: 1_000 })
  return entries.filter(({ mac }) => mac !== '').length
}

/** A message that is being sent, and its confirmation. */
async function sending(store: Store) {
  const [queued] = await store.enqueue([send()])
  const { token } = await mustTakeSend(store, { lane: LANE })
  return { lane: LANE, token, id: queued?.id ?? '', to: 'sent', platformIds: ['p1'] } as const
}

describe.each([
  ['SQLite', createSqliteFixture],
  ['PostgreSQL', createPostgresFixture],
] as const)('what nobody waits for, on %s', (_, make) => {
  it('[I23.lone-commits] is written with what comes next, before it', async () => {
    const fixture = await make()
    const store = await fixture.openWith({ unhurriedMs: AN_HOUR })
    const note = await sending(store)
    const before = await commits(store)
    const noted = store.moveSends([note], { unhurried: true })
    await fixture.clock.settle(20)
    expect(await store.send(note.id)).toMatchObject({ state: 'sending' })
    await store.receive([item()])
    expect(await noted).toEqual(['moved'])
    expect(await commits(store)).toBe(before + 1)
    await fixture.dispose()
  })

  it('[I23.lone-commits] is written alone where nothing comes, and before the store is closed', async () => {
    const fixture = await make()
    const quick = await fixture.openWith({ unhurriedMs: 1 })
    const alone = await sending(quick)
    expect(await quick.moveSends([alone], { unhurried: true })).toEqual(['moved'])
    await quick.releaseLanes('sends', [alone])
    await quick.close()
    const slow = await fixture.openWith({ unhurriedMs: AN_HOUR, node: 'other' })
    const note = await sending(slow)
    const noted = slow.moveSends([note], { unhurried: true })
    await slow.close()
    expect(await noted).toEqual(['moved'])
    const after = await fixture.open('third')
    expect(await after.send(note.id)).toMatchObject({ state: 'sent' })
    await fixture.dispose()
  })

  it('[I23.lone-commits] a turn that is noted as taken and answered at once is both, in one commit', async () => {
    const fixture = await make()
    const store = await fixture.openWith({ unhurriedMs: AN_HOUR })
    const { id: turn, lane } = await queueOne(store)
    const { token } = await mustTake(store, { lane })
    const before = await commits(store)
    const noted = store.moveTurns([{ lane, token, turn, to: 'handed', reason: 'taken' }], { unhurried: true })
    const late = store.accept([send()], [{ lane, token: token + 1, turn, to: 'answered' }])
    const accepted = store.accept([send({ turn })], [{ lane, token, turn, to: 'answered' }])
    const again = store.moveTurns([{ lane, token, turn, to: 'seen' }])
    expect(await noted).toEqual(['moved'])
    expect(await late).toMatchObject({ outcome: 'stale', sends: [] })
    expect(await accepted).toMatchObject({ outcome: 'accepted', sends: [{ state: 'queued' }] })
    expect(await again).toEqual(['noop'])
    expect(await commits(store)).toBe(before + 1)
    expect(await store.turn(turn)).toMatchObject({ state: 'answered', reason: null })
    const told = (await store.ledger({ afterSeq: 0, limit: 1_000 })).filter(({ ref }) => ref === turn)
    expect(told.map(({ to }) => to)).toEqual(['queued', 'handed', 'handed', 'answered'])
    expect((await store.sends({ turn, limit: 9 })).length).toBe(1)
    await fixture.dispose()
  })
})
