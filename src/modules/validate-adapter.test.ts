// The exports of external modules: half of an adapter, nothing at all, a link that throws.
import { describe, expect, it } from 'vitest'
import type { AgentConnector, PlatformAdapter } from '../contract/index.ts'
import { linkOf } from '../core/links.ts'
import { validateConnector, validatePlatform } from './validate-adapter.ts'

const nothing = () => undefined

describe('[I13.modules-whole] what create gave', () => {
  const adapter = {
    start: nothing,
    send: nothing,
    stop: nothing,
    abilities: { textLimit: { size: 4_096, unit: 'utf-16' } },
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
    expect(() => validatePlatform({})).toThrow(
      'an adapter with missing or wrong members: abilities, start, send, stop',
    )
    expect(() => validateConnector({})).toThrow(
      'a connector with missing or wrong members: redelivery, window, holdsDecisions, start, deliver, stop',
    )
  })

  it.each([
    ['textLimit', undefined],
    ['textLimit', 4_096],
    ['textLimit', { size: 4_096 }],
    ['textLimit', { size: 0, unit: 'bytes' }],
    ['textLimit', { size: 4_096, unit: 'constructor' }],
    ['markdown', {}],
    ['markdown', 'html'],
    ['markdown', { render: () => ({ text: '', plain: '' }), literal: 'as it is' }],
    ['sendFrom', 'anywhere'],
  ])('abilities whose %s is %j are refused', (name, value) => {
    const abilities = { ...adapter.abilities, [name]: value }
    expect(() => validatePlatform({ ...adapter, abilities })).toThrow(`wrong members: abilities.${name}`)
  })

  it.each([
    ['abilities', null, 'abilities'],
    ['send', 'now', 'send'],
    ['reconcile', true, 'reconcile'],
    ['link', nothing, 'link'],
    ['link', {}, 'link.state'],
    ['link', { state: nothing, probe: 'hears' }, 'link.probe'],
    ['endpoint', { at: 'here', verify: nothing }, 'endpoint.at, endpoint.handle'],
    ['pace', { take: nothing }, 'pace.giveBack'],
    ['streaming', { by: 'edits', everyMs: 100 }, 'streaming.revise'],
    ['streaming', {}, 'streaming.by, streaming.everyMs, streaming.revise'],
    ['status', { show: nothing }, 'status.remove'],
    ['files', { keep: './folder' }, 'files.keep'],
    ['watchers', { heard: nothing }, 'watchers.listening'],
    ['checks', { gates: [] }, 'checks.gates'],
  ])('an adapter whose %s is %j has wrong members', (name, value, wrong) => {
    expect(() => validatePlatform({ ...adapter, [name]: value })).toThrow(
      new RegExp(`wrong members: ${wrong}$`),
    )
  })

  it('may have every group', () => {
    const whole = {
      ...adapter,
      endpoint: { verify: nothing, handle: nothing },
      link: { state: nothing, who: nothing },
      streaming: { by: 'signals' },
      files: {},
      checks: { gates: nothing },
    }
    expect(validatePlatform(whole)).toBe(whole)
  })

  it.each([
    ['redelivery', {}],
    ['redelivery', { handed: 'again', seen: 'later', afterTimeout: false }],
    ['redelivery', { handed: 'again', seen: 'again' }],
    ['window', undefined],
    ['window', 0],
    ['holdsDecisions', 'no'],
    ['deliver', 'now'],
    ['verdict', 'allow'],
    ['overlaps', false],
  ])('a connector whose %s is %j has a wrong member', (name, value) => {
    expect(() => validateConnector({ ...connector, [name]: value })).toThrow(`wrong members: ${name}`)
  })

  it('may have no limit of a text, and as many turns in flight as there are', () => {
    const endless = { size: Number.POSITIVE_INFINITY, unit: 'utf-16' }
    const talker = { ...adapter, abilities: { textLimit: endless } }
    expect(validatePlatform(talker)).toBe(talker)
    const many = { ...connector, window: Number.POSITIVE_INFINITY }
    expect(validateConnector(many)).toBe(many)
  })
})

describe('[I13.modules-whole] how a link stands', () => {
  it('is told by the adapter', () => {
    const link = { state: () => ({ state: 'up', since: 7 }) as const }
    expect(linkOf({ link })).toEqual({ state: 'up', since: 7 })
  })

  it('is up for an adapter that has no link', () => {
    expect(linkOf({})).toEqual({ state: 'up' })
  })

  it('is down, with the reason, where that throws or tells nothing', () => {
    const broken = () => {
      throw new Error('no socket yet')
    }
    expect(linkOf({ link: { state: broken } })).toEqual({
      state: 'down',
      detail: 'its link.state() failed: no socket yet',
    })
    for (const told of [undefined, null, {}, 'up'])
      expect(linkOf({ link: { state: () => told as never } })).toEqual({
        state: 'down',
        detail: 'its link.state() returns no state',
      })
  })
})
