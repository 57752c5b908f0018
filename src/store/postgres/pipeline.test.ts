// The writer's connection: which statements leave together, which fail together, and a commit that begins the next
// transaction.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { expectSound, item, queueOne } from '../../testing/store-suite/fixture.ts'
import { createPostgresFixture, type PostgresFixture } from './fixtures/postgres-fixture.ts'
import { tripsWhile } from './fixtures/sent-statements.ts'
import { createPipeline, type Pipeline } from './pipeline.ts'

let fixture: PostgresFixture
beforeEach(async () => {
  fixture = await createPostgresFixture()
})
afterEach(() => fixture.dispose())

describe('statements that leave together', () => {
  let pipeline: Pipeline
  beforeEach(async () => {
    pipeline = createPipeline(fixture.url)
    await pipeline.client.connect()
  })
  afterEach(() => pipeline.client.end())

  it('[I23.pg-lists] values of every kind arrive as they were given', async () => {
    const texts = ['', 'a"b\\c', '{},NULL', 'ß€🙂\n\t']
    const asked = pipeline.ask('SELECT $1::text[] AS texts, $2::bigint[] AS numbers', [texts, [1, -2]])
    const bytes = pipeline.ask('SELECT $1::bytea AS bytes, $2::text AS nothing, $3::bigint AS number', [
      new Uint8Array([0, 255, 7]),
      null,
      2 ** 52,
    ])
    pipeline.send()
    expect((await asked).rows).toEqual([{ texts, numbers: ['1', '-2'] }])
    const [row] = (await bytes).rows
    expect(row).toEqual({ bytes: Buffer.from([0, 255, 7]), nothing: null, number: 2 ** 52 })
  })

  it('[I23.pg-trips] a text that is too long for what was kept ready arrives whole, many times', async () => {
    const long = 'lang €'.repeat(30_000)
    for (let times = 0; times < 3; times++) {
      const [one, two] = [pipeline.ask('SELECT $1::text AS t', [long]), pipeline.ask('SELECT 1 AS n', [])]
      pipeline.send()
      expect((await one).rows[0]?.t === long).toBe(true)
      expect(await two).toEqual({ rows: [{ n: 1 }], rowCount: 1, command: 'SELECT' })
    }
  })

  it('what fails takes along what is behind it, and nothing after', async () => {
    const texts = ['SELECT 1 AS n', 'SELECT 1 / $1::bigint AS n', 'SELECT 2 AS n']
    const outcomes = async (divisor: number) => {
      const asked = texts.map((text, at) => pipeline.ask(text, at === 1 ? [divisor] : []))
      pipeline.send()
      return (await Promise.allSettled(asked)).map((one) =>
        one.status === 'fulfilled' ? one.value.rows[0]?.n : (one.reason as { code?: string }).code,
      )
    }
    expect(await outcomes(0)).toEqual([1, '22012', '22012'])
    expect(await outcomes(1)).toEqual([1, 1, 2])
    expect(await outcomes(0)).toEqual([1, '22012', '22012'])
  })

  it('what was discarded never leaves', async () => {
    const gone = pipeline.ask('SELECT 1 AS n', [])
    pipeline.discard(new Error('given up'))
    await expect(gone).rejects.toThrow('given up')
    const asked = pipeline.ask('SELECT 2 AS n', [])
    pipeline.send()
    expect((await asked).rows).toEqual([{ n: 2 }])
  })
})

describe('a commit that begins the next', () => {
  it('[I23.pg-trips] what waits behind a commit is begun in its round trip', async () => {
    const store = await fixture.open()
    const words = (name: string) => store.receive([item({ conversation: name })])
    await words('a')
    await words('b')
    const alone = await tripsWhile(() => words('a'))
    const both = await tripsWhile(async () => {
      const first = words('a')
      // The statement is on its way.
      await new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
      await Promise.all([first, words('b')])
    })
    expect(both).toBe(2 * alone - 1)
    await expectSound(store)
  })

  it('one that fails leaves nothing behind, and what was begun behind it is done', async () => {
    const store = await fixture.open()
    const bad = await queueOne(store, { conversation: 'bad' })
    const good = await queueOne(store, { conversation: 'good' })
    await fixture.sql(`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN IF NEW.conversation = 'bad' AND NEW.state = 'handed' THEN RAISE 'refused'; END IF; RETURN NEW; END $$`)
    await fixture.sql('CREATE TRIGGER refuse BEFORE UPDATE ON turns FOR EACH ROW EXECUTE FUNCTION refuse()')
    const take = (lane: string) => store.takeTurns([{ lane, window: 1 }], 15_000)
    const [refused, taken] = [take(bad.lane), take(good.lane)]
    const failed = expect(refused).rejects.toThrow('refused')
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
    const [behind] = await store.receive([item({ conversation: 'behind' })])
    await failed
    expect(await taken).toMatchObject([{ outcome: 'taken', handed: [{ id: good.id }] }])
    expect(await store.turn(bad.id)).toMatchObject({ state: 'queued' })
    expect(await store.turn(behind?.id ?? '')).toMatchObject({ state: 'queued' })
    await fixture.sql('DROP TRIGGER refuse ON turns')
    expect(await take(bad.lane)).toMatchObject([{ outcome: 'taken', handed: [{ id: bad.id }] }])
    await expectSound(store)
  })
})
