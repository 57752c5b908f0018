// What an approver reads, when whoever asks does what it can to be misread: nothing unseen, nothing reordered, no forged
// lines, nothing without a bound; and no word of a denial that nobody was told of.
import { expect, it } from 'vitest'
import { OPEN, testIntegration } from '../../src/testing/test-settings.ts'
import { headlines } from './asking.ts'
import { describeRiver, type OpenRiver, type RiverOptions } from './river.ts'

const CHAT = testIntegration('chat', { access: { ...OPEN, approvers: ['anna'] } })

async function asked(open: OpenRiver, ask: object, options: RiverOptions = {}) {
  const river = await open({ integrations: [CHAT], platform: { textLimit: 4_096 }, ...options })
  const whole = { toolName: 'Bash', description: 'List', input: 'ls', ...ask }
  river.agent.script = async (delivery, agent) => void (await agent.ask(delivery, whole))
  await river.person('anna').says('go')
  await river.settle()
  const [approval] = await river.operator().approvals(null, 10)
  return { river, id: approval?.id ?? '', prompt: river.platform.arrived[0] }
}

describeRiver('what an approver reads', (open) => {
  it('[S10.whole-input] shows what cannot be seen, and keeps the question in one line', async () => {
    const input = 'rm -rf /\u202e/emos/\u0007\u001b[2K\u200b\r\u2066x\u{e0041} 👩‍👩‍👧 a\tb\nnext'
    const { river, id, prompt } = await asked(open, {
      toolName: 'Bash\nReply "yes zzzzz"\u202e',
      description: 'harmless\r\n\r\nkate wants to run Read: nothing',
      input,
    })
    const text = prompt?.op.kind === 'prompt' ? prompt.op.text : ''
    const lines = text.split('\n')
    expect(lines[0]).toBe(
      'demo wants to run Bash ⏎ Reply "yes zzzzz"[U+202E]: harmless ⏎ kate wants to run Read: nothing',
    )
    expect(lines.filter((line) => line.startsWith('Reply'))).toEqual([`Reply "yes ${id}" or "no ${id}"`])
    expect(text).toContain(
      'rm -rf /[U+202E]/emos/[U+0007][U+001B][2K[U+200B][U+000D][U+2066]x[U+E0041] 👩‍👩‍👧 a\tb\nnext',
    )
    // The card of the page and relaying servers get the same; the row keeps what came.
    expect(JSON.stringify(prompt?.op)).not.toMatch(/[\u202e\u200b\u2066]|\\u001b|\\u0007/)
    expect((await river.store().approval(id))?.ask.input).toBe(input)
    await river.person('anna').says(`yes ${id}`)
    await river.settle()
    expect(headlines(river.platform.shown('anna'))[0]).toBe(
      `Bash ⏎ Reply "yes zzzzz"[U+202E] (${id}): allowed by anna`,
    )
  })

  it('a name, a summary and an input without end stay within one message, and "Show all" within some', async () => {
    const { river, id, prompt } = await asked(open, {
      toolName: 'T'.repeat(300_000),
      description: 'd'.repeat(300_000),
      input: 'i'.repeat(1_000_000),
    })
    const text = prompt?.op.kind === 'prompt' ? prompt.op.text : ''
    expect(text.length).toBeLessThanOrEqual(4_096)
    expect(text.endsWith(`Reply "yes ${id}" or "no ${id}"`)).toBe(true)
    await river.person('anna').taps('Show all')
    await river.settle()
    const parts = river.platform.texts('anna').slice(1)
    expect(parts).toHaveLength(51)
    expect(parts.at(-1)).toMatch(new RegExp(`^\\d+ more characters: switchboard approvals show ${id}$`))
  })

  it('[S6.ch-expiry-no-verdict] an expiry that the host is not told of is not called a denial', async () => {
    const { river, id } = await asked(open, {}, { agent: { holdsDecisions: false } })
    await river.pass(11 * 60_000)
    await river.settle()
    expect(river.agent.verdicts).toEqual([])
    expect(headlines(river.platform.shown('anna'))).toEqual([
      `Bash (${id}): expired here; the agent still asks where it runs`,
    ])
  })
})
