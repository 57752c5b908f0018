// What modules of others give: half of an adapter, nothing at all, a link that throws.
import { describe, expect, it } from 'vitest'
import type { AgentConnector, PlatformAdapter } from '../contract/index.ts'
import { linkOf } from '../core/outbound/links.ts'
import { validateConnector, validatePlatform } from './validate-adapter.ts'

const nothing = () => undefined

describe('[I13.modules-whole] what create gave', () => {
  const adapter = {
    start: nothing,
    send: nothing,
    link: nothing,
    stop: nothing,
    abilities: {},
    textLimit: { size: 4_096, unit: 'utf-16' },
    markdown: 'written',
    sendFrom: 'any',
  } satisfies Partial<Record<keyof PlatformAdapter, unknown>>
  const connector = {
    start: nothing,
    deliver: nothing,
    stop: nothing,
    redelivery: { handed: 'again', seen: 'resume', afterTimeout: false },
    window: 1,
    holdsDecisions: false,
  } satisfies Partial<Record<keyof AgentConnector, unknown>>

  it('is taken when it is whole', () => {
    expect(validatePlatform(adapter)).toBe(adapter)
    expect(validateConnector(connector)).toBe(connector)
  })

  it.each([undefined, null, 7, 'text'])('%s is none', (made) => {
    for (const look of [validatePlatform, validateConnector])
      expect(() => look(made as never)).toThrow(`its create gave ${made}, not a`)
  })

  it('says what is missing', () => {
    const members = 'abilities, textLimit, markdown, sendFrom, start, send, link, stop'
    expect(() => validatePlatform({})).toThrow(`an adapter without ${members}`)
    expect(() => validateConnector({})).toThrow(
      'a connector without redelivery, window, holdsDecisions, start, deliver, stop',
    )
  })

  it.each([
    ['abilities', null],
    ['textLimit', 4_096],
    ['textLimit', { size: 4_096 }],
    ['textLimit', { size: 0, unit: 'bytes' }],
    ['textLimit', { size: 4_096, unit: 'constructor' }],
    ['markdown', undefined],
    ['markdown', {}],
    ['markdown', 'html'],
    ['markdown', { render: () => ({ text: '', plain: '' }), literal: 'as it is' }],
    ['sendFrom', 'anywhere'],
    ['send', 'now'],
  ])('an adapter whose %s is %j lacks it', (name, value) => {
    expect(() => validatePlatform({ ...adapter, [name]: value })).toThrow(`an adapter without ${name}`)
  })

  it.each([
    ['redelivery', {}],
    ['redelivery', { handed: 'again', seen: 'later', afterTimeout: false }],
    ['redelivery', { handed: 'again', seen: 'again' }],
    ['window', undefined],
    ['window', 0],
    ['holdsDecisions', 'no'],
    ['deliver', 'now'],
  ])('a connector whose %s is %j lacks it', (name, value) => {
    expect(() => validateConnector({ ...connector, [name]: value })).toThrow(`a connector without ${name}`)
  })

  it('may have no limit of a text, and as many turns in flight as there are', () => {
    const endless = { size: Number.POSITIVE_INFINITY, unit: 'utf-16' }
    expect(validatePlatform({ ...adapter, textLimit: endless }).textLimit).toBe(endless)
    const many = { ...connector, window: Number.POSITIVE_INFINITY }
    expect(validateConnector(many)).toBe(many)
  })
})

describe('[I13.modules-whole] how a link stands', () => {
  it('is told by the adapter', () => {
    expect(linkOf({ link: () => ({ state: 'up', since: 7 }) })).toEqual({ state: 'up', since: 7 })
  })

  it('is down, with the reason, where that throws or tells nothing', () => {
    const broken = () => {
      throw new Error('no socket yet')
    }
    expect(linkOf({ link: broken })).toEqual({ state: 'down', detail: 'its link() failed: no socket yet' })
    for (const told of [undefined, null, {}, 'up'])
      expect(linkOf({ link: () => told as never })).toEqual({
        state: 'down',
        detail: 'its link() tells no state',
      })
  })
})
