// A long question: cut to fit the chat, and shown whole to whoever may decide it, in the chat where they ask for it.
import { expect, it } from 'vitest'
import { OPEN, testAgent, testIntegration } from '../../src/testing/test-settings.ts'
import { describeRiver, type OpenRiver, type River, type RiverOptions } from './river.ts'

const CHAT = testIntegration('chat', { access: { ...OPEN, approvers: ['anna'] } })
const INPUT = `{ "command": "${Array.from({ length: 2_000 }, (_, at) => `step${at}`).join(' ')} 😀 \`\`\` end" }`
const ASK = { toolName: 'Bash', description: 'Run shell command', input: INPUT }

async function asking(
  open: OpenRiver,
  options: RiverOptions = {},
  ask = ASK,
): Promise<{ river: River; id: string }> {
  const river = await open({ integrations: [CHAT], platform: { textLimit: 1_000 }, ...options })
  river.agent.script = async (delivery, agent) => void (await agent.ask(delivery, ask))
  await river.person('anna').says('go')
  await river.settle()
  const [approval] = await river.operator().approvals(null, 10)
  return { river, id: approval?.id ?? '' }
}

/** What the parts hold, put together again. */
function whole(parts: readonly string[]): string {
  return parts.map((text) => text.split('\n').slice(2, -1).join('\n')).join('')
}

describeRiver('show all', (open) => {
  it('[S10.show-all] a tap sends the whole input in parts that fit, to that chat alone, and decides nothing', async () => {
    const { river, id } = await asking(open)
    const [prompt] = river.platform.arrived
    expect(prompt?.op).toMatchObject({
      choices: [{ label: 'Allow' }, { label: 'Deny' }, { label: 'Show all', value: `show:${id}` }],
    })
    expect(await river.person('anna').taps('Show all')).toMatchObject({ state: 'consumed', reason: 'tap' })
    await river.settle()
    const parts = river.platform.texts('anna').slice(1)
    expect(parts.length).toBeGreaterThan(10)
    for (const part of parts) expect([...part].length).toBeLessThanOrEqual(1_000)
    expect(parts[0]).toMatch(new RegExp(`^Bash \\(${id}\\), part 1 of ${parts.length}:`))
    expect(whole(parts)).toBe(`Run shell command\n\n${INPUT}`)
    expect((await river.store().approval(id))?.state).toBe('pending')
    expect(river.platform.arrived.every(({ to }) => to.conversation === 'anna')).toBe(true)
    // The verdict is for exactly that input.
    await river.person('anna').taps('Allow')
    await river.settle()
    expect(await river.store().approval(id)).toMatchObject({ state: 'relayed', ask: { input: INPUT } })
    expect(river.agent.deliveries).toHaveLength(1)
  })

  it('[I35.b35] what was shown of an erased person’s call in other chats goes with her words: question, parts and outcome', async () => {
    const other = testIntegration('other', { access: { ...OPEN, approvers: ['boss'] } })
    const { river } = await asking(open, {
      integrations: [testIntegration('chat'), other],
      agents: [testAgent('demo', ['chat', 'other'])],
    })
    const boss = river.person('boss', 'boss', { integration: 'other' })
    await boss.taps('Show all')
    await river.settle()
    await boss.taps('Deny')
    await river.settle()
    const kept = async () => {
      const sends = await river.store().sends({ integration: 'other', limit: 100 })
      return sends.filter(({ op }) => JSON.stringify(op ?? '').includes('step1')).length
    }
    expect(await kept()).toBeGreaterThan(10)
    await river.operator().erasePerson('chat:anna', { revoke: false }, 'operator')
    expect(await kept()).toBe(0)
  })

  it('[I15.show-all-file] where a long text can be shown as a file it is one, whole, and named by the command that shows it too', async () => {
    const { river, id } = await asking(open, {
      platform: { textLimit: 1_000, abilities: { textAsFile: true } },
    })
    expect(await river.person('anna').taps('Show all')).toMatchObject({ state: 'consumed', answer: 'A file' })
    await river.settle()
    const [, ...shown] = river.platform.arrived
    expect(shown.map(({ op }) => op)).toEqual([
      {
        kind: 'text',
        text: `Run shell command\n\n${INPUT}`,
        plain: true,
        asFile: {
          name: `approval-${id}.txt`,
          caption: `Bash (${id}): the whole text. Also shown by switchboard approvals show ${id}`,
        },
      },
    ])
    // One that nobody confirmed comes again, and says beside the file that it may be a second copy.
    river.platform.failNext([{ kind: 'unknown', arrived: true }])
    await river.person('anna').taps('Show all')
    await river.pass(60_000)
    const captions = river.platform.arrived.flatMap(({ op }) =>
      op.kind === 'text' && op.asFile ? [op.asFile.caption] : [],
    )
    expect(captions).toHaveLength(3)
    expect(captions[2]).toMatch(/^\(may be a duplicate: .*\)\n\nBash/)
    // What fits into one message is said in one.
    const wordy = { toolName: 'Bash', description: 'why '.repeat(60), input: 'ls' }
    const short = await asking(
      open,
      { platform: { textLimit: 1_000, abilities: { textAsFile: true } } },
      wordy,
    )
    expect(await short.river.person('anna').taps('Show all')).toMatchObject({ answer: '1 part' })
  })

  it('somebody who may not decide sees nothing', async () => {
    const { river, id } = await asking(open)
    const before = river.platform.arrived.length
    const event = { conversation: 'group', chat: 'direct', sender: { id: 'mallory' }, at: 0 } as const
    const tap = { ...event, kind: 'tap', messageId: 'x1', on: 'p1', value: `show:${id}` } as const
    expect(await river.platform.receive('chat', [tap])).toMatchObject([
      { state: 'refused', reason: 'not_approver' },
    ])
    const none = { ...tap, messageId: 'x2', value: 'show:zzzzz' }
    expect(await river.platform.receive('chat', [none])).toMatchObject([
      { state: 'refused', reason: 'not_approver' },
    ])
    await river.settle()
    expect(river.platform.arrived.length).toBe(before)
  })

  it('a short question has no such button, and a platform without buttons names the command', async () => {
    const { river, id } = await asking(open, {
      platform: { textLimit: 1_000, abilities: { buttons: false } },
    })
    expect(river.platform.texts('anna')[0]).toContain(`more characters: switchboard approvals show ${id})`)
    expect(river.platform.arrived[0]?.op).toMatchObject({ choices: [{ label: 'Allow' }, { label: 'Deny' }] })
    const short = await asking(open, { platform: { textLimit: 100_000 } })
    expect(short.river.platform.arrived[0]?.op).toMatchObject({ choices: [{}, {}] })
    const card = await asking(open, { platform: { textLimit: 1_000, abilities: { showsAsk: true } } })
    expect(card.river.platform.arrived[0]?.op).toMatchObject({ choices: [{}, {}], ask: { input: INPUT } })
  })
})
