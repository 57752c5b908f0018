// A lent database is as new for its next borrower, or it is not lent again.
import pg from 'pg'
import { describe, expect, it } from 'vitest'
import { sharedPostgres } from './server.ts'

const fill = async (url: string) => {
  await ask(
    url,
    `CREATE TABLE notes (name TEXT PRIMARY KEY, at BIGINT, raw BYTEA);
     CREATE SEQUENCE places;
     INSERT INTO notes VALUES ('first', 7, '\\x00ff')`,
  )
}

async function ask(url: string, sql: string): Promise<readonly unknown[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query(sql)).rows
  } finally {
    await client.end()
  }
}

const all = (url: string) => ask(url, `SELECT name, at, encode(raw, 'hex') AS raw FROM notes ORDER BY name`)

describe('a lent database', () => {
  it('comes as it was filled, whatever the one before did with its rows and sequences', async () => {
    const { lend } = await sharedPostgres()
    const one = await lend('lent_as_filled', fill)
    await ask(
      one.url,
      `DELETE FROM notes; INSERT INTO notes VALUES ('other', 1, NULL); SELECT nextval('places')`,
    )
    await one.giveBack()
    const two = await lend('lent_as_filled', fill)
    expect(two.url).toBe(one.url)
    expect(await all(two.url)).toEqual([{ name: 'first', at: '7', raw: '00ff' }])
    expect(await ask(two.url, `SELECT nextval('places') AS place`)).toEqual([{ place: '1' }])
    await two.giveBack()
  })

  it('is lent to one at a time', async () => {
    const { lend } = await sharedPostgres()
    const [one, two] = await Promise.all([lend('lent_once', fill), lend('lent_once', fill)])
    expect(one.url).not.toBe(two.url)
    await ask(one.url, 'DELETE FROM notes')
    expect(await all(two.url)).toHaveLength(1)
    await Promise.all([one.giveBack(), two.giveBack()])
  })

  it.each([
    'DROP TABLE notes',
    'CREATE INDEX more ON notes (at)',
    'ALTER TABLE notes ADD COLUMN more TEXT',
    'ALTER TABLE notes DROP CONSTRAINT notes_pkey',
    'DO $$ BEGIN EXECUTE format($q$ALTER DATABASE %I SET work_mem = 65536$q$, current_database()); END $$',
  ])('is not lent again after %s', async (change) => {
    const { lend } = await sharedPostgres()
    const one = await lend('lent_and_changed', fill)
    await ask(one.url, change)
    await one.giveBack()
    const two = await lend('lent_and_changed', fill)
    expect(two.url).not.toBe(one.url)
    expect(await all(two.url)).toHaveLength(1)
    await two.giveBack()
  })

  it('closes the connections that its last borrower left open', async () => {
    const { lend } = await sharedPostgres()
    const one = await lend('lent_and_kept', fill)
    const straggler = new pg.Client({ connectionString: one.url })
    const ended = new Promise<void>((resolve) => straggler.on('error', () => resolve()))
    await straggler.connect()
    await straggler.query('BEGIN; LOCK TABLE notes')
    await one.giveBack()
    await ended
    const two = await lend('lent_and_kept', fill)
    expect(two.url).toBe(one.url)
    await two.giveBack()
  })
})
