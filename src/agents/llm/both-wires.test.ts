// Faults of a model, over both wires: empty answers, refusals, bad calls, hanging tools, faults of the API.
import { describe, expect, it } from 'vitest'
import { KEY, type SceneOptions, scene } from './fixtures/llm-scene.ts'

const MAIL = { tools: { mail: () => 'sent' } }

describe.each(['anthropic', 'openai'] as const)('over %s', (provider) => {
  const over = (given: SceneOptions) => scene({ ...given, options: { provider, ...given.options } })

  it('[I16.empty-answer] an empty answer and one of thinking alone say nothing in the chat', async () => {
    for (const reply of [{ text: '' }, { thinking: 'hm' }, { text: ' \n' }]) {
      const { turn } = await over({ script: [reply] })
      expect(await turn('hi')).toMatchObject({
        kind: 'say',
        final: true,
        text: expect.stringMatching(/^\s*$/),
      })
    }
    const { turn } = await over({ script: [{ thinking: 'hm', stop: 'length' }] })
    expect(await turn('hi')).toMatchObject({
      kind: 'failed',
      detail: expect.stringContaining('output tokens'),
    })
  })

  it('[I16.refusal] a refusal fails the turn and is told; a cut answer says that it is one', async () => {
    expect(await (await over({ script: [{ text: 'no', stop: 'refusal' }] })).turn('hi')).toMatchObject({
      kind: 'failed',
      detail: 'the model declined to answer',
    })
    expect(await (await over({ script: [{ text: 'Hel', stop: 'length' }] })).turn('hi')).toMatchObject({
      text: expect.stringMatching(/^Hel …\n\n\(cut/),
    })
  })

  it('[I16.bad-calls] an unknown tool, broken arguments and a hundred calls are told as what they are', async () => {
    const hundred = Array.from({ length: 100 }, (_, at) => ({ name: 'mail', input: { at } }))
    const { turn, ran, fake } = await over({
      ...MAIL,
      options: { risky_tools: [] },
      script: [
        {
          calls: [
            { name: 'nope', input: {} },
            { name: 'mail', input: '{"to": ' },
            { name: 'mail', input: '[1]' },
            { name: 'mail', input: `{"to":${'['.repeat(50_000)}${']'.repeat(50_000)}}` },
          ],
        },
        { calls: hundred },
        { text: 'Done.' },
      ],
    })
    expect(await turn('go')).toMatchObject({ text: 'Done.' })
    expect(ran).toHaveLength(20)
    const sent = JSON.stringify(fake.requests[2]?.body.messages)
    expect(sent).toContain('There is no tool \\"nope\\"')
    expect(sent.match(/not a JSON object/g)).toHaveLength(3)
    expect(sent.match(/Not run: at most 20 calls/g)).toHaveLength(80)
  })

  it('[I16.deep-input] arguments that no person can be shown are not asked about, and not run', async () => {
    const { turn, ran, recorded, fake } = await over({
      ...MAIL,
      script: [{ calls: [{ name: 'mail', input: { to: 'x'.repeat(100_001) } }] }, { text: 'Sorry.' }],
    })
    expect(await turn('go')).toMatchObject({ text: 'Sorry.' })
    expect([ran, recorded.outputs.filter(({ kind }) => kind === 'ask')]).toEqual([[], []])
    expect(JSON.stringify(fake.requests[1]?.body.messages)).toContain('Not run: its arguments are over')
  })

  it('[I16.tool-hangs] [I16.tool-huge] a tool that hangs is told as unknown, and megabytes are cut', async () => {
    const { says, ended, deps, until, ran, fake } = await over({
      options: { risky_tools: [] },
      tools: { hang: () => new Promise(() => undefined), huge: () => '😀'.repeat(2_500_000) },
      script: [
        {
          calls: [
            { name: 'hang', input: {} },
            { name: 'huge', input: {} },
          ],
        },
        { text: 'Done.' },
      ],
    })
    await says('go')
    await until(() => ran[0])
    await deps.clock.advance(60_000)
    expect(await ended()).toMatchObject({ text: 'Done.' })
    const sent = JSON.stringify(fake.requests[1]?.body.messages)
    expect(sent).toContain('outcome unknown')
    expect(sent).toContain('cut: 5000000 characters in all')
    expect(sent.length).toBeLessThan(200_000)
    expect(sent).not.toMatch(/\\ud83d"/)
  })

  it('[I16.limits-day] a day that is spent asks no model, and says when it ends', async () => {
    const { turn, fake, journal } = await over({
      options: { limits: { tokens_per_day: 1_000 } },
      script: [{ text: 'x' }],
    })
    journal.spentToday = 1_000
    const end = await turn('hi')
    expect(end).toMatchObject({
      kind: 'failed',
      detail: expect.stringMatching(/budget of the day is spent; .* 00:00 UTC, in (\d+ h )?\d+ min/),
    })
    expect(fake.requests).toEqual([])
  })

  it('[I16.retries] it waits as long as it is asked to, and no request goes out before', async () => {
    const { says, ended, deps, fake, until } = await over({
      script: [
        { status: 429, headers: { 'retry-after': '20' } },
        { text: 'Hello!', cutAfter: 4 },
        { text: 'Done.' },
      ],
    })
    await says('hi')
    await until(() => fake.requests[0])
    await deps.clock.advance(19_000)
    expect(fake.requests).toHaveLength(1)
    await deps.clock.advance(1_000)
    await until(() => fake.requests[1])
    await deps.clock.settle(20)
    await deps.clock.advance(2_000)
    expect(await ended()).toMatchObject({ text: 'Done.' })
  })

  it('[I16.retries] a wrong key is not tried again, and is never shown', async () => {
    const { turn, fake, deps } = await over({ script: [{ status: 401, error: { message: `no: ${KEY}` } }] })
    const end = await turn('hi')
    expect(end).toMatchObject({ kind: 'failed', detail: 'the API refused the key (401)' })
    expect(fake.requests).toHaveLength(1)
    expect(JSON.stringify(end) + deps.log.lines.join('\n')).not.toContain('4711')
  })

  it.each(['words', 'no end of a line', 'an error'])(
    '[I16.endless-answer] an answer that does not end (%s) is given up, and not asked for again',
    async (how) => {
      const long = 'x'.repeat(200_000)
      const delta =
        provider === 'anthropic'
          ? `event: content_block_delta\ndata: ${JSON.stringify({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: long } })}\n\n`
          : `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: long } }] })}\n\n`
      let written = 0
      const piece = how === 'words' ? delta : long
      const raw = Object.assign([piece], {
        *entries() {
          for (let at = 0; at < 120; at++) {
            written += piece.length
            yield [at, piece] as const
          }
        },
      })
      const { turn, fake } = await over({ script: [how === 'an error' ? { raw, rawStatus: 400 } : { raw }] })
      const told = how === 'an error' ? /refused the request \(400\)/ : /^the answer of the API does not end$/
      // Text of a block that never began is ignored.
      const isCut = how === 'words' && provider === 'openai'
      expect(await turn('hi')).toMatchObject(
        isCut
          ? {
              kind: 'say',
              text: expect.stringContaining('(cut: the answer was longer than 100000 characters)'),
            }
          : { kind: 'failed', detail: expect.stringMatching(told) },
      )
      expect(fake.requests).toHaveLength(1)
      expect(written).toBeLessThan(20_000_000)
    },
  )

  it('[I16.fallback] a model that stays away is replaced', async () => {
    const { says, ended, deps, fake, until } = await over({
      options: { fallback: 'm2' },
      script: ({ model }) =>
        model === 'm1' ? { status: 529, error: { type: 'overloaded_error' } } : { text: 'from m2' },
    })
    await says('hi')
    for (let tries = 1; tries <= 3; tries++) {
      await until(() => fake.requests[tries - 1])
      await deps.clock.settle(20)
      await deps.clock.advance(30_000)
    }
    expect(await ended()).toMatchObject({ text: 'from m2' })
    expect(fake.requests.map((one) => one.model)).toEqual(['m1', 'm1', 'm1', 'm1', 'm2'])
  })

  it.each([502, 503, 504])(
    '[I35.b11-fallback] where the API answers %i for one model, the fallback is asked at once',
    async (status) => {
      const { turn, recorded, fake } = await over({
        options: { fallback: 'm2' },
        script: ({ model }) => (model === 'm1' ? { status } : { text: 'from m2' }),
      })
      expect(await turn('hi')).toMatchObject({ kind: 'say', text: 'from m2' })
      expect(fake.requests.map((one) => one.model)).toEqual(['m1', 'm2'])
      expect(recorded.outputs.some(({ kind }) => kind === 'returned')).toBe(false)
    },
  )

  it.each([
    ['is away too', { status: 504 }],
    ['is not known', { status: 404 }],
  ])(
    '[I35.b11-fallback] where the fallback %s, the turn is given back with what the model said',
    async (_, second) => {
      const { says, recorded, fake, until } = await over({
        options: { fallback: 'm2' },
        script: ({ model }) => (model === 'm1' ? { status: 503 } : second),
      })
      await says('hi')
      expect(await until(() => recorded.outputs.find(({ kind }) => kind === 'returned'))).toMatchObject({
        unreachable: true,
        counted: false,
        detail: expect.stringContaining('the API answered 503'),
      })
      expect(fake.requests.map((one) => one.model)).toEqual(['m1', 'm2'])
    },
  )

  it('[I16.too-long] what is too long is tried with less of the past, and then said', async () => {
    const past = Array.from({ length: 20 }, (_, at) => ({
      ...{
        turn: `t_${20 - at}`,
        sender: { id: 'u' },
        at: 0,
        source: 's',
        attachments: [],
        state: 'answered',
        steps: [],
      },
      ...{ text: 'x'.repeat(2_000), said: ['ok'] },
    }))
    const long = { status: 400, error: { message: 'prompt is too long' } }
    const { turn, fake } = await over({
      past,
      script: (request) => (JSON.stringify(request.body).length > 30_000 ? long : { text: 'fits' }),
    })
    expect(await turn('hi')).toMatchObject({ text: 'fits' })
    expect(fake.requests.length).toBeGreaterThan(1)
    expect(await (await over({ script: [long] })).turn('hi')).toMatchObject({
      kind: 'failed',
      detail: expect.stringContaining('longer than the model takes'),
    })
  })
})
