// What modules of others give: half of an adapter, nothing at all, a link that throws.
import { describe, expect, it } from 'vitest'
import type { AgentConnector, PlatformAdapter } from '../contract/index.ts'
import { linkOf } from '../core/outbound/links.ts'
import { wholeConnector, wholePlatform } from './whole-adapter.ts'

const nothing = () => undefined

describe('[I13.modules-whole] what create gave', () => {
  const adapter = {
    start: nothing,
    send: nothing,
    link: nothing,
    stop: nothing,
    abilities: {},
  } satisfies Partial<Record<keyof PlatformAdapter, unknown>>
  const connector = {
    start: nothing,
    deliver: nothing,
    stop: nothing,
    redelivery: { handed: 'again', seen: 'resume', afterTimeout: false },
  } satisfies Partial<Record<keyof AgentConnector, unknown>>

  it('is taken when it is whole', () => {
    expect(wholePlatform(adapter)).toBe(adapter)
    expect(wholeConnector(connector)).toBe(connector)
  })

  it.each([undefined, null, 7, 'text'])('%s is none', (made) => {
    for (const look of [wholePlatform, wholeConnector])
      expect(() => look(made as never)).toThrow(`its create gave ${made}, not a`)
  })

  it('says what is missing', () => {
    expect(() => wholePlatform({})).toThrow('an adapter without start, send, link, stop, abilities')
    expect(() => wholePlatform({ ...adapter, abilities: null })).toThrow('an adapter without abilities')
    expect(() => wholeConnector({ ...connector, deliver: 'now' })).toThrow('a connector without deliver')
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
