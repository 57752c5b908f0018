// What `defined` keeps and omits, and its types.
import { describe, expect, expectTypeOf, it } from 'vitest'
import { defined } from './index.ts'

describe('defined', () => {
  it('leaves out what is undefined, as if it had never been written', () => {
    const kept = defined({ a: undefined, b: 1 })
    expect(Object.keys(kept)).toEqual(['b'])
    expect('a' in kept).toBe(false)
  })

  it('keeps what is empty, false, zero or null', () => {
    const fields = { a: '', b: false, c: 0, d: null, e: Number.NaN }
    expect(defined(fields)).toEqual(fields)
  })

  it('changes nothing in what it was given', () => {
    const fields = Object.freeze({ a: undefined, b: [1] })
    const kept = defined(fields)
    expect(kept.b).toBe(fields.b)
    expect(Object.keys(fields)).toEqual(['a', 'b'])
  })

  it('makes fields that may be absent and are never undefined', () => {
    const detail = 'x' as string | undefined
    const said: { readonly id: number; readonly detail?: string } = { id: 1, ...defined({ detail }) }
    expect(said).toEqual({ id: 1, detail: 'x' })
    expectTypeOf(defined({ detail })).toEqualTypeOf<{ detail?: string }>()
  })
})
