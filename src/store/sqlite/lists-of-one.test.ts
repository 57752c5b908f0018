// Lists of one value: both forms of a statement return the same rows.
import { expect, test } from 'vitest'
import { openConnection, toSqlite } from './connection.ts'
import { areSingle, listsOf, ofOneEach } from './lists-of-one.ts'

test('[I23.sqlite-planned] only parameters that are nothing but lists count as such', () => {
  expect([...listsOf('SELECT 1 FROM t WHERE a @any($2) AND b = $1')]).toEqual([2])
  expect([...listsOf('SELECT 1 FROM t WHERE a @any($1) AND b @any($1)')]).toEqual([1])
  expect([...listsOf('SELECT 1 FROM t WHERE a @any($1) AND b IN (SELECT value FROM json_each($1))')]).toEqual(
    [],
  )
  expect(ofOneEach('a @any($2) AND NOT b @any($11)')).toBe('a = $2 AND NOT b = $11')
  expect(areSingle(new Set([1]), [['x']])).toBe(true)
  expect(areSingle(new Set([1, 2]), [['x'], ['y', 'z']])).toBe(false)
  expect(areSingle(new Set([1]), [[]])).toBe(false)
  expect(areSingle(new Set(), ['x'])).toBe(false)
})

test('[I23.sqlite-planned] none, one and many find what they name, and rows come with their names', () => {
  const connection = openConnection({
    file: ':memory:',
    readOnly: false,
    busyTimeoutMs: 0,
    reserve: () => [],
  })
  connection.exec('CREATE TABLE t (seq INTEGER PRIMARY KEY, name TEXT, bytes BLOB)')
  const write = (sql: string, params: readonly (string | number | readonly number[] | Uint8Array)[]) =>
    connection.execute({ form: 'run', sql, params })
  for (const [seq, name] of ['one', 'two', 'three'].entries())
    write('INSERT INTO t VALUES ($1, $2, $3)', [seq, name, new Uint8Array([seq])])
  const named = (seqs: readonly number[], not = '') =>
    connection.execute({
      form: 'rows',
      sql: `SELECT seq, name, bytes FROM t WHERE ${not} seq @any($1) ORDER BY seq`,
      params: [seqs],
    })
  expect(named([])).toEqual([])
  expect(named([1])).toMatchObject([{ seq: 1, name: 'two' }])
  expect(named([2, 0])).toMatchObject([
    { seq: 0, name: 'one' },
    { seq: 2, name: 'three' },
  ])
  expect(named([1], 'NOT')).toMatchObject([{ name: 'one' }, { name: 'three' }])
  const [row] = named([2]) as readonly { readonly bytes: Uint8Array }[]
  expect([...(row?.bytes ?? [])]).toEqual([2])
  expect(write('UPDATE t SET name = $2 WHERE seq @any($1)', [[1], 'again'])).toBe(1)
  expect(write('UPDATE t SET name = $2 WHERE seq @any($1)', [[0, 1, 7], 'both'])).toBe(2)
  expect(named([1])).toMatchObject([{ name: 'both' }])
  connection.close()
})

test('[I23.sqlite-planned] no limit stands alone, for a statement would be planned anew each time that it is bound', () => {
  expect(toSqlite('SELECT 1 FROM t WHERE a = $1 ORDER BY a LIMIT $2')).toBe(
    'SELECT 1 FROM t WHERE a = ?1 ORDER BY a LIMIT ?2 + 0',
  )
  expect(toSqlite('SELECT * FROM (SELECT 1 LIMIT $11) LIMIT 4')).toBe(
    'SELECT * FROM (SELECT 1 LIMIT ?11 + 0) LIMIT 4',
  )
})
