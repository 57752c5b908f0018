// The buttons of a question: their values, their labels, and values that are no pick.
import { describe, expect, it } from 'vitest'
import { pickButtons, pickInTap } from './picks.ts'

describe('[I22.cc-choices] the buttons of a question', () => {
  it('are numbered as its text is, and come back as what was picked', () => {
    const buttons = pickButtons({ of: 'q1', labels: ['Red', 'x'.repeat(200)] })
    expect(buttons.map(({ value }) => pickInTap(value))).toEqual([
      { of: 'q1', number: '1' },
      { of: 'q1', number: '2' },
    ])
    expect(buttons[0]?.label).toBe('1. Red')
    expect(buttons[1]?.label).toMatch(/^2\. x{56}…$/)
  })

  it('are none where there are too many, and no other button is one', () => {
    expect(pickButtons({ of: 'q1', labels: Array.from({ length: 11 }, String) })).toEqual([])
    for (const value of [
      'allow:abcde',
      'claim:reply',
      'pick:q1:0',
      'pick:q1:100',
      'pick::1',
      'pick:a b:1',
      '',
    ])
      expect(pickInTap(value)).toBeNull()
  })
})
