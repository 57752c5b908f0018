// The address of a request: the peer's, or behind a trusted proxy the one that the proxy names.
import { expect, it } from 'vitest'
import { openServer } from './fixtures/open-server.ts'
import { peerAddress } from './peer-address.ts'

const TRUSTED = ['127.0.0.1', '10.0.0.2']
const trusts = (address: string) => TRUSTED.includes(address)
const of = (
  remoteAddress: string | undefined,
  forwarded?: string,
  believes: typeof trusts | undefined = trusts,
) =>
  peerAddress(
    {
      headers: forwarded === undefined ? {} : { 'x-forwarded-for': forwarded },
      socket: { remoteAddress },
    } as unknown as Parameters<typeof peerAddress>[0],
    believes,
  )

it('[I35.b46-verify] is the peer’s own, whatever it says, unless the peer is a trusted proxy', () => {
  expect(of('203.0.113.7', '192.0.2.1')).toBe('203.0.113.7')
  expect(of('::ffff:203.0.113.7', '192.0.2.1')).toBe('203.0.113.7')
  expect(
    peerAddress(
      { headers: { 'x-forwarded-for': '192.0.2.1' }, socket: { remoteAddress: '127.0.0.1' } } as never,
      undefined,
    ),
  ).toBe('127.0.0.1')
  expect(of(undefined)).toBeUndefined()
})

it('[I35.b46-verify] an endpoint is told the address that a trusted proxy names, and of any other peer its own', async () => {
  const trustsProxy = (address: string) => address === '127.0.0.1'
  for (const [settings, address] of [
    [{}, '127.0.0.1'],
    [{ trustsProxy }, '192.0.2.1'],
  ] as const) {
    const limits = { maxBodyBytes: 20_000, publicUrl: null }
    const opened = await openServer({ settings: () => ({ ...limits, ...settings }) })
    const headers = { 'x-forwarded-for': '192.0.2.1', 'x-tell-address': '1' }
    const reply = await opened.fetch('/hooks/demo', { method: 'POST', body: 'x', headers })
    expect(await reply.json()).toMatchObject({ address })
    await opened.server.close({ graceMs: 200 })
  }
})

it('[I35.b46-verify] is the last one that no trusted proxy vouches for, and nothing that a client wrote before it', () => {
  expect(of('127.0.0.1')).toBe('127.0.0.1')
  expect(of('127.0.0.1', '192.0.2.1')).toBe('192.0.2.1')
  expect(of('127.0.0.1', '198.51.100.9, 192.0.2.1')).toBe('192.0.2.1')
  expect(of('127.0.0.1', '198.51.100.9, 192.0.2.1, 10.0.0.2')).toBe('192.0.2.1')
  expect(of('127.0.0.1', '192.0.2.1, unknown')).toBeUndefined()
  expect(of('127.0.0.1', '')).toBeUndefined()
  expect(of('127.0.0.1', '10.0.0.2')).toBe('10.0.0.2')
})
