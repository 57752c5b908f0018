// Lists as PostgreSQL arrays: every value comes back unchanged.

import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createPostgresFixture, type PostgresFixture } from './fixtures/postgres-fixture.ts'
import { asParameter } from './many-rows.ts'

describe('a list as a parameter', () => {
  let fixture: PostgresFixture
  let client: pg.Client
  beforeAll(async () => {
    fixture = await createPostgresFixture()
    client = new pg.Client({ connectionString: fixture.url })
    await client.connect()
  })
  afterAll(async () => {
    await client.end()
    await fixture.dispose()
  })

  const back = async (type: string, list: readonly unknown[]): Promise<unknown> => {
    const { rows } = await client.query(`SELECT $1::${type}[] AS list`, [asParameter(list)])
    return (rows[0] as { list: unknown }).list
  }

  it('[I23.pg-lists] texts with quotes, braces, commas, line breaks, signs and the word NULL stay what they are', async () => {
    const texts = [
      '',
      ' ',
      'a,b',
      '{x}',
      '"',
      '\\',
      '\\"',
      'a\\nb',
      'a\nb\tc',
      'NULL',
      'null',
      null,
      '😀 ж',
      '$1 $& %',
    ]
    expect(await back('text', texts)).toEqual(texts)
    expect(await back('text', [])).toEqual([])
    expect(await back('text', [null, ''])).toEqual([null, ''])
  })

  it('[I23.pg-lists] so do whole numbers, and what is no list is left alone', async () => {
    expect(await back('int8', [1, 0, -7, null, 1_700_000_000_000])).toEqual([
      '1',
      '0',
      '-7',
      null,
      '1700000000000',
    ])
    expect(asParameter('{a}')).toBe('{a}')
    const bytes = new Uint8Array([1])
    expect(asParameter(bytes)).toBe(bytes)
  })
})
