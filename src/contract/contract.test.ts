// The contract's basics: addresses, ids, states and tables.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { wordsIn } from '../words/index.ts'
import {
  address,
  asSwitchboardError,
  ERROR_TABLE,
  formatAddress,
  parseAddress,
  REASONS,
  type ReasonCode,
  rowId,
  rowSeq,
  SEND_STATES,
  SwitchboardError,
  sendMayMove,
  sessionId,
  sessionKey,
  TURN_STATES,
  turnMayMove,
} from './index.ts'

const segment = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 })

describe('addresses', () => {
  it('[S1.address-string] [S1.address-both-ways] have one string form that parses back', () => {
    fc.assert(
      fc.property(
        segment,
        segment,
        fc.option(segment, { nil: undefined }),
        (integration, conversation, thread) => {
          const at = address(integration, conversation, thread)
          expect(parseAddress(formatAddress(at))).toEqual(at)
        },
      ),
    )
  })

  it('[S1.address-no-alias] never alias one another, whatever the values hold', () => {
    const spiky = fc.string({
      unit: fc.constantFrom(':', '%', '/', ' ', 'a', '|', '=', 'ø', '%3A'),
      minLength: 1,
      maxLength: 5,
    })
    const any = fc.tuple(spiky, spiky, fc.option(spiky, { nil: undefined }))
    fc.assert(
      fc.property(any, any, (one, two) => {
        const same = JSON.stringify(one) === JSON.stringify(two)
        expect(formatAddress(address(...one)) === formatAddress(address(...two))).toBe(same)
        expect(sessionKey('a', address(...one)) === sessionKey('a', address(...two))).toBe(same)
      }),
    )
  })

  it.each(['', 'a', 'a:', ':b', 'a:b:c:d', 'a:%', 'a:%E0%A4'])('%j is not an address', (text) => {
    expect(() => parseAddress(text)).toThrow(SwitchboardError)
  })

  it('refuses text that is not well-formed Unicode', () => {
    expect(() => address('a', 'x\ud800')).toThrow(/well-formed/)
    expect(() => address('a', '\udc00\ud800')).toThrow(/well-formed/)
    expect(address('a', '😀').conversation).toBe('😀')
  })
})

describe('ids', () => {
  it('[S5.uuid-v5] a session id is a v5 UUID of key and generation', () => {
    const id = sessionId('demo:chat:anna', 0)
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    expect(sessionId('demo:chat:anna', 0)).toBe(id)
    expect(sessionId('demo:chat:anna', 1)).not.toBe(id)
  })

  it('[S5.key-parts] [S5.two-agents-differ] [S5.names-not-in-key] a session key is agent and address, and nothing else', () => {
    const at = address('chat', 'a:b', 't')
    expect(sessionKey('demo', at)).toBe('demo:chat:a%3Ab:t')
    expect(sessionKey('other', at)).not.toBe(sessionKey('demo', at))
  })

  it('row ids carry their position and their store', () => {
    const positions = fc.property(fc.nat(), (seq) => {
      expect(rowSeq('t', 'k3f9', rowId('t', 'k3f9', seq))).toBe(seq)
    })
    fc.assert(positions)
    expect(rowSeq('t', 'k3f9', rowId('t', 'zzzz', 1))).toBeNull()
    for (const bad of ['t_k3f9_', 't_k3f9_01', 't_k3f9_-1', 'o_k3f9_1', 't_k3f9_zzzzzzzzzzzzz'])
      expect(rowSeq('t', 'k3f9', bad)).toBeNull()
  })
})

describe('states and tables', () => {
  it('[S2.states-forward] [S2.states-terminal] turns move forward, and ends are ends', () => {
    expect(turnMayMove('queued', 'handed')).toBe(true)
    expect(turnMayMove('queued', 'answered')).toBe(false)
    for (const to of TURN_STATES)
      for (const end of ['answered', 'refused', 'consumed'] as const) expect(turnMayMove(end, to)).toBe(false)
    // Only the platform's later report can fail a confirmed send.
    for (const to of SEND_STATES) expect(sendMayMove('sent', to)).toBe(to === 'failed')
  })

  it('[S2.reasons-closed] every reason explains a state that exists', () => {
    const states = new Set<string>([...TURN_STATES, ...SEND_STATES])
    for (const [code, reason] of Object.entries(REASONS)) {
      expect(
        reason.of.every((state) => states.has(state)),
        code,
      ).toBe(true)
      expect(wordsIn().reasons[code as ReasonCode]).toMatch(/\.$/)
    }
  })

  it('every error code has a nature', () => {
    for (const nature of Object.values(ERROR_TABLE)) expect(nature.httpStatus).toBeGreaterThanOrEqual(400)
    expect(new SwitchboardError('gone', 'x').nature.httpStatus).toBe(410)
  })
})

describe('errors of another copy of the package', () => {
  it('[I13.modules-errors] count like our own, and no look-alike does', async () => {
    const copy = new URL('./errors.ts?another-copy', import.meta.url).href
    const { SwitchboardError: Other } = await import(/* @vite-ignore */ copy)
    const error = new Other('outcome_unknown', 'no answer', { retryAfterMs: 5 })
    expect(Other).not.toBe(SwitchboardError)
    expect(error).toBeInstanceOf(SwitchboardError)
    expect(asSwitchboardError(error, 'platform_unavailable')).toBe(error)
    const imitation = Object.assign(new Error('x'), { name: 'SwitchboardError', code: 'outcome_unknown' })
    expect(imitation).not.toBeInstanceOf(SwitchboardError)
    expect(Object.assign(new Other('internal', 'x'), { code: 'constructor' })).not.toBeInstanceOf(
      SwitchboardError,
    )
    for (const stranger of [null, 'x', {}, new Error('x')])
      expect(stranger).not.toBeInstanceOf(SwitchboardError)
  })

  it('a class of its own that extends it is told apart', () => {
    class MarkupError extends SwitchboardError {}
    expect(new MarkupError('internal', 'x')).toBeInstanceOf(SwitchboardError)
    expect(new SwitchboardError('internal', 'x')).not.toBeInstanceOf(MarkupError)
    expect(new MarkupError('internal', 'x')).toBeInstanceOf(MarkupError)
  })
})
