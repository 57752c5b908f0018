// Channel servers behind a URL: sessions, the stream of notifications, and a link whose stream is lost.
import { describe, expect, it } from 'vitest'
import { until } from '../../../test/faults/until.ts'
import { startHttpChannel } from './fixtures/http-channel.ts'
import { openPool } from './fixtures/pool-scene.ts'
import { parseMessage } from './parse.ts'

const pager = (url: string) => ({ name: 'pager', options: { url, headers: { Authorization: 'env:PAGER' } } })

describe('channel servers over HTTP', () => {
  it.each(['before', 'now'] as const)(
    '[S3.mcp-server-url] [S7.mcp-transports] of the line %s: news on the stream, calls, headers',
    async (line) => {
      const channel = await startHttpChannel(line, 'nexo')
      const scene = await openPool([pager(channel.url)])
      const server = await scene.reached('pager', 'up')
      expect(server.facts()).toMatchObject({
        transport: 'http',
        prefix: 'nexo',
        program: { name: `http-${line}` },
      })
      await until('the stream is open', () => channel.streams() === 1)
      for (const content of ['one', 'two']) await channel.emit('notifications/nexo/channel', { content })
      await until('both are there', () => scene.texts('pager').length === 2)
      expect(scene.texts('pager')).toEqual(['one', 'two'])
      expect((await server.tools()).map(({ name }) => name)).toEqual(['send_message'])
      expect(await server.call('send_message', { text: 'hi' }, { timeoutMs: 20_000 })).toMatchObject({
        text: 'sent',
      })
      expect(channel.sent).toEqual([{ text: 'hi' }])
      expect(new Set(channel.requests.map((one) => one.replace(/^\S+ /, '')))).toEqual(
        new Set(['value of env:PAGER']),
      )
    },
  )

  it('a stream that breaks off is opened again, in the same session', async () => {
    const channel = await startHttpChannel('before', 'claude')
    const scene = await openPool([pager(channel.url)])
    await scene.reached('pager', 'up')
    await until('the stream is open', () => channel.streams() === 1)
    channel.cutStreams()
    await until('it is cut', () => channel.streams() === 0)
    await until('it is open again', () => channel.streams() === 1)
    await channel.emit('notifications/claude/channel', { content: 'after the cut' })
    await until('it is there', () => scene.texts('pager').includes('after the cut'))
    expect(channel.sessions()).toBe(1)
    expect(scene.server('pager').facts().restarts).toBe(0)
  })

  it('a server that forgot the session is connected anew', async () => {
    const channel = await startHttpChannel('now', 'nexo')
    const scene = await openPool([pager(channel.url)])
    await scene.reached('pager', 'up')
    await until('the stream is open', () => channel.streams() === 1)
    channel.forgetSessions()
    channel.cutStreams()
    await until('it was started again', () => scene.server('pager').facts().restarts === 1)
    await scene.reached('pager', 'up')
    await until('there is a stream', () => channel.streams() === 1)
    await channel.emit('notifications/nexo/channel', { content: 'to the new session' })
    await until('it is there', () => scene.texts('pager').length > 0)
    expect(scene.texts('pager')).toEqual(['to the new session'])
  })

  it.each([500, 401, 302])('one that answers %s is down, and comes up when it behaves', async (status) => {
    const channel = await startHttpChannel('before', 'nexo')
    channel.refuseWith(status)
    const scene = await openPool([pager(channel.url)])
    const server = await scene.reached('pager', 'down')
    expect(server.facts().detail).not.toContain(channel.url)
    expect(server.facts().detail).toMatch(
      status === 302 ? /redirects elsewhere/ : new RegExp(`HTTP ${status}`),
    )
    await expect(server.call('send_message', {}, { timeoutMs: 100 })).rejects.toMatchObject({
      code: 'platform_unavailable',
    })
    channel.refuseWith(null)
    await scene.reached('pager', 'up')
  })

  it('calls that fail say whether anything happened', async () => {
    const channel = await startHttpChannel('before', 'nexo')
    const scene = await openPool([pager(channel.url)])
    const server = await scene.reached('pager', 'up')
    const code = (status: number) => {
      channel.refuseWith(status)
      return server
        .call('send_message', {}, { timeoutMs: 20_000 })
        .catch((thrown: { code?: string }) => thrown.code)
    }
    expect(await code(503)).toBe('platform_unavailable')
    expect(await code(403)).toBe('platform_rejected')
    expect(await code(500)).toBe('outcome_unknown')
  })

  it('a URL that nobody serves, and one of the cloud’s own metadata, stay down and stop nobody', async () => {
    const channel = await startHttpChannel('before', 'nexo')
    const scene = await openPool([
      { name: 'nowhere', options: { url: 'http://127.0.0.1:9/mcp' } },
      { name: 'metadata', options: { url: 'http://169.254.169.254/latest' } },
      pager(channel.url),
    ])
    await scene.reached('pager', 'up')
    expect((await scene.reached('nowhere', 'down')).facts().detail).toMatch(/ECONNREFUSED/)
    expect((await scene.reached('metadata', 'down')).facts().detail).toMatch(/not allowed/)
  })

  it('a message of 20 MB is not swallowed, and one after it is heard', async () => {
    const channel = await startHttpChannel('before', 'nexo')
    const scene = await openPool([pager(channel.url)])
    await scene.reached('pager', 'up')
    await until('the stream is open', () => channel.streams() === 1)
    await channel.emit('notifications/nexo/channel', { content: 'x'.repeat(20_000_000) })
    await until(
      'the stream was cut',
      () => channel.requests.filter((one) => one.startsWith('GET')).length === 2,
    )
    await until('it is open again', () => channel.streams() === 1)
    await channel.emit('notifications/nexo/channel', { content: 'short' })
    await until('it is there', () => scene.texts('pager').includes('short'))
    expect(scene.texts('pager')).toEqual(['short'])
  })

  it('[I8.http-malformed] every malformed notification is heard as it came, for the parser to name', async () => {
    const channel = await startHttpChannel('before', 'nexo')
    const scene = await openPool([pager(channel.url)])
    const server = await scene.reached('pager', 'up')
    await until('the stream is open', () => channel.streams() === 1)
    const malformed = [undefined, null, 5, 'x', [], {}, { content: 1 }, { content: 'x', meta: [] }]
    const good = { content: 'ok', _meta: 5 }
    for (const params of [...malformed, { content: 'x', meta: { n: 3 } }, good]) {
      const message = { jsonrpc: '2.0', method: 'notifications/nexo/channel', params }
      channel.write(`event: message\ndata: ${JSON.stringify(message)}\n\n`)
    }
    await until('all are there', () => scene.news.pager?.length === 10)
    const kinds = scene.news.pager?.map((news) => {
      const parsed = parseMessage('pager', news)
      return parsed.ok ? parsed.value.content : parsed.error.kind
    })
    expect(kinds).toEqual([...Array(5).fill('params'), 'content', 'content', 'meta', 'meta', 'ok'])
    expect(server.facts()).toMatchObject({ state: 'up', noise: 0 })
    channel.write('data: garbage\n\n')
    await until('it is counted', () => server.facts().noise === 1)
  })

  it('ends the session when it is no longer configured', async () => {
    const channel = await startHttpChannel('before', 'nexo')
    const scene = await openPool([pager(channel.url)])
    await scene.reached('pager', 'up')
    await until('the stream is open', () => channel.streams() === 1)
    await scene.pool.apply([])
    expect(channel.requests.some((one) => one.startsWith('DELETE'))).toBe(true)
    await until('the stream is closed', () => channel.streams() === 0)
    expect(scene.pool.get('pager')).toBeUndefined()
  })
})
