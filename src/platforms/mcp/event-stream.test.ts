// Events of a stream before the SDK reads them: notifications are taken out, the rest is unchanged, wherever bytes are
// cut.
import { describe, expect, it } from 'vitest'
import type { ServerPush } from '../../contract/index.ts'
import { tapEvents } from './event-stream.ts'

async function tapped(chunks: readonly string[], maxBytes = 1_000) {
  const news: ServerPush[] = []
  const source = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(Buffer.from(chunk))
      controller.close()
    },
  })
  const out = await new Response(
    source.pipeThrough(tapEvents({ news: (one) => void news.push(one), maxBytes })),
  )
    .text()
    .catch((thrown: Error) => `failed: ${thrown.message}`)
  return { news: news.map(({ params }) => params), out }
}

const pushed = (params: unknown) =>
  JSON.stringify({ jsonrpc: '2.0', method: 'notifications/nexo/channel', params })
const TAKEN = '{"jsonrpc":"2.0","method":"notifications/switchboard/taken"}'

describe('events', () => {
  it.each(['\n', '\r\n', '\r'])('come whole however they are cut, with lines that end in %j', async (end) => {
    const other = `: hello${end}event: message${end}data: {"jsonrpc":"2.0",${end}data: "id":1,"result":{}}${end}${end}`
    const text = `${other}id: 7${end}data: ${pushed('ä')}${end}${end}${other}data: ${pushed(2)}${end}${end}`
    for (let at = 0; at <= text.length; at++) {
      const { news, out } = await tapped([text.slice(0, at), text.slice(at)])
      expect(news).toEqual(['ä', 2])
      // An event that ended in two line ends may end in one of ours and its own second one.
      const seen = out.replaceAll(`${TAKEN}\n\n\n`, `${TAKEN}\n\n`)
      expect(seen).toBe(`${other}id: 7\ndata: ${TAKEN}\n\n${other}data: ${TAKEN}\n\n`)
    }
    expect((await tapped([...text])).news).toEqual(['ä', 2])
  })

  it('that are no news go on untouched: garbage, other types, requests, an unfinished one', async () => {
    const others = [
      'data: {\n\n',
      `event: ping\ndata: ${pushed(1)}\n\n`,
      `data: ${pushed(1).replace('{', '{"id":5,')}\n\n`,
      'data: null\n\n',
      ': only a comment\n\n',
      `data: ${pushed(1)}`,
    ]
    expect(await tapped(others)).toEqual({ news: [], out: others.join('') })
  })

  it('a batch is taken apart', async () => {
    const answer = '{"jsonrpc":"2.0","id":1,"result":{}}'
    const { news, out } = await tapped([`id: 3\ndata: [${pushed(1)},${answer},${pushed(2)}]\n\n`])
    expect(news).toEqual([1, 2])
    expect(out).toBe(`id: 3\ndata: ${answer}\n\n`)
  })

  it.each(['\n', '\r\n', '\r'])(
    'are bounded one by one, not together, with lines that end in %j',
    async (end) => {
      const one = `data: ${'x'.repeat(60)}`
      const many = Array.from({ length: 50 }, () => [one, end, end]).flat()
      expect((await tapped(many, 100)).out).toBe(many.join(''))
      expect((await tapped([one, 'x'.repeat(60), end, end], 100)).out).toBe('failed: an event is too large')
    },
  )

  it('[I35.a3-message] that are too full, too deep, or of too many lines end the stream', async () => {
    const full = pushed(Array.from({ length: 50_000 }, () => ({})))
    const deep = pushed(1).replace('1}', `${'['.repeat(2_000)}${']'.repeat(2_000)}}`)
    for (const data of [full, deep])
      expect((await tapped([`data: ${data}\n\n`], 1_000_000)).out).toMatch(/^failed: it (holds|is nested)/)
    const lines = await tapped(['data:\n'.repeat(20_000)], 1_000_000)
    expect(lines.out).toBe('failed: an event has too many lines')
    // Line ends of many events are counted per event.
    expect((await tapped([': x\n\n'.repeat(20_000)])).out).toHaveLength(100_000)
  })
})
