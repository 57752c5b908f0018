// The earlier messages: rebuilt within a budget, in whole turns, with one summary of the rest.
import { expect, it } from 'vitest'
import type { PastTurn } from '../../contract/index.ts'
import { memoryJournal, scene } from './fixtures/llm-scene.ts'

const past = (n: number, over: Partial<PastTurn> = {}): PastTurn => ({
  ...{
    turn: `t_${n}`,
    sender: { id: 'u1', name: 'Anna' },
    at: n,
    source: 'web:w',
    attachments: [],
    state: 'answered',
    steps: [],
  },
  ...{ text: `question ${n}`, said: [`answer ${n}`] },
  ...over,
})
const newestFirst = (many: number, over: (n: number) => Partial<PastTurn> = () => ({})) =>
  Array.from({ length: many }, (_, at) => past(many - at, over(many - at)))
const sentTo = (request: { readonly body: Readonly<Record<string, unknown>> } | undefined) =>
  JSON.stringify(request?.body.messages)

it('[I16.history] earlier turns come in order, by their speakers, with the calls that were made', async () => {
  const steps = [
    {
      n: 1,
      at: 0,
      kind: 'model' as const,
      body: {
        text: 'I look.',
        calls: [{ id: 'c', name: 'look', arguments: '{}' }],
        stop: 'end',
        model: 'm',
        raw: { by: 'anthropic', content: [{ type: 'thinking', signature: 'old' }] },
        tokens: 1,
      },
    },
    { n: 2, at: 0, kind: 'call' as const, body: { id: 'c', name: 'look' } },
    {
      n: 3,
      at: 0,
      kind: 'result' as const,
      body: { id: 'c', name: 'look', text: 'y'.repeat(5_000), isError: false },
    },
    {
      n: 4,
      at: 0,
      kind: 'model' as const,
      body: { text: 'It is there.', calls: [], stop: 'end', model: 'm', raw: null, tokens: 1 },
    },
  ]
  const refused = past(3, {
    steps: [
      {
        n: 1,
        at: 0,
        kind: 'model',
        body: { text: '', calls: [], stop: 'refusal', model: 'm', raw: null, tokens: 1 },
      },
    ],
  })
  const { turn, fake } = await scene({
    past: [past(4, { text: null }), refused, past(2, { steps }), past(1)],
    script: [{ text: 'ok' }],
  })
  await turn('and now?')
  const messages = fake.requests[0]?.body.messages as { role: string }[]
  expect(messages.map(({ role }) => role)).toEqual([
    'user',
    'assistant',
    'user',
    'assistant',
    'user',
    'assistant',
    'user',
  ])
  const sent = sentTo(fake.requests[0])
  expect(sent.indexOf('question 1')).toBeLessThan(sent.indexOf('It is there.'))
  expect(sent).toContain('user=\\"Anna\\"')
  expect(sent).toContain('tool_use')
  // Old signatures, refused exchanges and erased texts are not sent. Results are shortened.
  expect(sent).not.toMatch(/old|question 3|no longer kept/)
  expect(sent.length).toBeLessThan(5_000)
})

it('[I16.history] what falls out of the budget is summarised once, and the summary is kept as a step', async () => {
  const long = (n: number) => ({ text: `question ${n} ${'x'.repeat(1_500)}` })
  const options = { limits: { history_tokens: 2_000 } }
  const journal = memoryJournal(newestFirst(10, long))
  const first = await scene({
    ...{ journal, options },
    script: ({ body }) =>
      JSON.stringify(body.system).includes('You summarise')
        ? { text: 'They asked ten things.' }
        : { text: 'ok' },
  })
  expect(await first.turn('eleven')).toMatchObject({ text: 'ok' })
  expect(first.fake.requests).toHaveLength(2)
  expect(sentTo(first.fake.requests[0])).toContain('question 1 ')
  const sent = sentTo(first.fake.requests[1])
  expect(sent).toContain('They asked ten things.')
  expect(sent).toContain('question 10 ')
  expect(sent).not.toContain('question 2 ')
  expect(journal.kept[0]).toMatchObject({
    kind: 'summary',
    body: { through: expect.stringMatching(/^t_\d+$/) },
    usage: { agent: 'test' },
  })
  // The next turn finds the summary and needs no other.
  const steps = journal.kept.map((step) => ({ ...step, at: 0 }))
  const next = await scene({
    journal: memoryJournal([past(11, { turn: 't_test_1', text: 'eleven', steps }), ...newestFirst(10, long)]),
    ...{ options, script: [{ text: 'ok' }] },
  })
  await next.turn('twelve', { turn: 't_test_2' })
  expect(next.fake.requests).toHaveLength(1)
  expect(sentTo(next.fake.requests[0])).toContain('They asked ten things.')
})

it('[I16.history] a summary that cannot be made does not hold the turn up', async () => {
  const { turn, fake } = await scene({
    options: { limits: { history_tokens: 300 } },
    past: newestFirst(5, (n) => ({ text: `question ${n} ${'x'.repeat(600)}` })),
    script: ({ body }) =>
      JSON.stringify(body.system).includes('You summarise') ? { status: 400 } : { text: 'ok' },
  })
  expect(await turn('six')).toMatchObject({ text: 'ok' })
  expect(sentTo(fake.requests[1])).toContain('earlier messages are not shown')
})
