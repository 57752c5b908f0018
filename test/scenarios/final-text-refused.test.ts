// A final text that a hosted server cannot place: the send has failed, and that is known to the agent and to whoever looks.
import { expect, it } from 'vitest'
import { approved, channels, hosting, SLACK } from './hosting.ts'
import { describeRiver } from './river.ts'

describeRiver('a final text without a place', (open) => {
  it('[I35.b18] is a failed send that the agent reads beside its next turn, and that status counts', async () => {
    const river = await open(
      hosting({
        channels: channels({ approved: [approved('slack', { outboundToolName: 'reply' })] }),
        messagingAllow: ['slack:*'],
      }),
    )
    const slack = river.server('slack')
    slack.up({ prefix: 'claude' }, [{ name: 'reply', arguments: ['text', 'reply_to', 'files'] }])
    river.agent.script = () => undefined
    slack.says('hello', { chat_id: 'tv', user: 'tv' })
    await river.settle()
    river.agent.script = async (delivery, agent) =>
      void (await agent.answer(delivery, `re: ${delivery.text}`))
    slack.says('hello', { chat_id: 'web', user: 'web' })
    await river.settle()
    const [row] = await river.store().sends({ integration: SLACK, limit: 1, oldestFirst: true })
    expect(row).toMatchObject({
      state: 'failed',
      detail: expect.stringContaining('no argument that can name'),
    })
    // Another node that hands over believes for a second that there are no failures.
    await river.pass(2_000)
    slack.says('again', { chat_id: 'web', user: 'web' })
    await river.settle()
    const lines = JSON.stringify(river.agent.deliveries.at(-1))
    expect(lines).toContain(row?.id)
    expect(lines).toContain('no argument that can name')
    expect((await river.operator().status()).outbox.failed).toBeGreaterThan(0)
  })
})
