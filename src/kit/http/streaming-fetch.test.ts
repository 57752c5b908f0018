// Streamed answers from the operator's own URLs: open and closed addresses, and the error of each failure.
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createTestClock } from '../../testing/index.ts'
import { createStreamingFetch } from './streaming-fetch.ts'

async function serve(handle: RequestListener): Promise<string> {
  const server = createServer(handle)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/x`
}

const clock = createTestClock()
const reach = createStreamingFetch({ clock, headTimeoutMs: 1_000 })

describe('a streaming fetch', () => {
  it('sends method, headers and body, and reads an answer piece by piece', async () => {
    const seen: string[] = []
    const url = await serve(async (request, response) => {
      let body = ''
      for await (const chunk of request) body += String(chunk)
      seen.push(`${request.method} ${request.headers.authorization} ${body}`)
      response.writeHead(201, { 'x-a': ['1', '2'] }).write('one ')
      setImmediate(() => response.end('two'))
    })
    const answer = await reach(url, { method: 'POST', headers: { Authorization: 'Bearer t' }, body: 'ü' })
    expect([answer.status, answer.headers.get('x-a'), await answer.text()]).toEqual([201, '1, 2', 'one two'])
    expect(seen).toEqual(['POST Bearer t ü'])
  })

  it('[I16.http-guard] a reader that leaves while the end is on its way does no harm', async () => {
    const url = await serve((_request, response) => response.end('all of it'))
    const thrown: unknown[] = []
    const note = (error: unknown) => void thrown.push(error)
    process.on('uncaughtException', note)
    onTestFinished(() => void process.off('uncaughtException', note))
    for (let round = 0; round < 20; round++) {
      const { body } = await reach(url)
      if (!body) throw new Error('there is no body')
      await body.cancel()
      for (let turn = 0; turn < 5; turn++) await new Promise<void>((resolve) => setImmediate(resolve))
    }
    expect(thrown).toEqual([])
  })

  it('[I16.http-guard] private addresses and plain http are closed where they are not allowed', async () => {
    const guarded = createStreamingFetch({ clock, headTimeoutMs: 1_000, allowPrivate: false })
    const url = await serve((_request, response) => response.end('inside'))
    await expect(guarded(url)).rejects.toMatchObject({ code: 'input_invalid' })
    await expect(guarded(url.replace('http:', 'https:'))).rejects.toMatchObject({ code: 'forbidden' })
  })

  it('follows no redirect and needs no body', async () => {
    const url = await serve((request, response) => {
      if (request.method === 'DELETE') response.writeHead(204).end()
      else response.writeHead(302, { location: 'http://127.0.0.1:1/elsewhere' }).end()
    })
    expect((await reach(url)).status).toBe(302)
    expect((await reach(new URL(url), { method: 'DELETE' })).body).toBeNull()
  })

  it.each(['http://169.254.169.254/', 'http://[fd00:ec2::254]/', 'http://0.0.0.0/'])(
    '%s stays closed',
    async (url) => {
      await expect(reach(url)).rejects.toMatchObject({ code: 'forbidden' })
    },
  )

  it('other schemes are not taken, and a name with one closed address is closed', async () => {
    await expect(reach('file:///etc/passwd')).rejects.toMatchObject({ code: 'input_invalid' })
    const mixed = createStreamingFetch({
      clock,
      headTimeoutMs: 1_000,
      resolve: async () => [
        { address: '127.0.0.1', family: 4 },
        { address: '169.254.169.254', family: 4 },
      ],
    })
    await expect(mixed('http://rebinding.example/')).rejects.toMatchObject({ code: 'forbidden' })
  })

  it('says whether a request went out, without the URL', async () => {
    const refused = await reach('http://127.0.0.1:9/secret-path').catch((thrown: Error) => thrown)
    expect(refused).toMatchObject({ code: 'platform_unavailable' })
    expect(String(refused)).not.toContain('secret-path')
    const url = await serve((request) => void request.socket.destroy())
    await expect(reach(url, { method: 'POST', body: 'x' })).rejects.toMatchObject({ code: 'outcome_unknown' })
  })

  it('waits for the head only so long, and for the body as long as it takes', async () => {
    let arrived: () => void = () => undefined
    const there = new Promise<void>((resolve) => {
      arrived = resolve
    })
    const silent = await serve(() => arrived())
    const asked = reach(silent)
    asked.catch(() => undefined)
    await there
    await clock.advance(1_000)
    await expect(asked).rejects.toMatchObject({ code: 'outcome_unknown' })
    let finish: () => void = () => undefined
    const slow = await serve((_, response) => {
      response.writeHead(200).write('a')
      finish = () => response.end('b')
    })
    const answer = await reach(slow)
    await clock.advance(10_000)
    finish()
    expect(await answer.text()).toBe('ab')
  })

  it('a body that breaks off is an error, and an abort ends it', async () => {
    const broken = await serve((_, response) => {
      response.writeHead(200, { 'content-length': '100' }).write('half')
      setImmediate(() => response.destroy())
    })
    await expect((await reach(broken)).text()).rejects.toThrow('broke off')
    const endless = await serve((_, response) => void response.writeHead(200).write('on and on'))
    const stop = new AbortController()
    const answer = await reach(endless, { signal: stop.signal })
    const reading = answer.text()
    stop.abort()
    await expect(reading).rejects.toThrow()
    await expect(reach(endless, { signal: stop.signal })).rejects.toMatchObject({ name: 'AbortError' })
  })

  it('a reader that does not read holds the peer back', async () => {
    let written = 0
    const url = await serve(async (_, response) => {
      response.writeHead(200)
      for (let at = 0; at < 400 && !response.destroyed; at++) {
        const flows = response.write(Buffer.alloc(65_536))
        written = at + 1
        if (!flows) await new Promise((resolve) => response.once('drain', resolve))
      }
      response.end()
    })
    const answer = await reach(url)
    let before = -1
    while (before !== written) {
      before = written
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    expect(written).toBeLessThan(400)
    expect((await answer.arrayBuffer()).byteLength).toBe(400 * 65_536)
  })
})
