// Permission relay to hosted channel servers: they are asked beside every chat, the first answer wins, and only a server
// that passes its gates and was asked can answer.
import { expect, it } from 'vitest'
import { RELAY_PLACE, type Settings } from '../../src/contract/index.ts'
import { OPEN, testIntegration } from '../../src/testing/test-settings.ts'
import { headlines } from './asking.ts'
import { approved, channels, hosting, hostingAgent, SLACK } from './hosting.ts'
import { describeRiver, type OpenRiver, type River, type RiverOptions } from './river.ts'

const RUN = { toolName: 'Bash', description: 'Run the tests', input: 'npm test -- --all' }
const CHAT = testIntegration('chat', { access: { ...OPEN, approvers: ['anna'] } })
const TWO: Settings['mcpServers'] = ['slack', 'pager'].map((name) => ({ name, options: {} }))
const BOTH = {
  channels: channels({ approved: [approved('slack'), approved('pager')] }),
  bindings: [
    { plugin: 'test', instance: 'chat', allowedChannelServers: ['slack', 'pager'] },
    { plugin: 'test', instance: 'other', allowedChannelServers: [] },
  ],
}

/** Anna's message made the agent ask, while `slack` relays permissions; the id of the approval comes back. */
async function asking(open: OpenRiver, over = {}, more: RiverOptions = {}): Promise<[River, string]> {
  const river = await open(hosting(over, { integrations: [CHAT], ...more }))
  for (const { name } of more.mcpServers ?? [{ name: 'slack' }])
    river.server(name).up({ permissionRelay: name === 'slack' })
  river.agent.script = async (delivery, agent) => void (await agent.ask(delivery, RUN))
  await river.person('anna').says('go')
  await river.settle()
  const [approval] = await river.operator().approvals(null, 10)
  return [river, approval?.id ?? '']
}

const approval = (river: River, id: string) => river.store().approval(id)
const reasons = async (river: River, integration = SLACK) =>
  (await river.store().turns({ integration, oldestFirst: true, limit: 50 })).map((turn) => turn.reason)

describeRiver('permission relay', (open) => {
  it('[S10.surface-servers] [S9.relay-capable] [S10.server-verdict] a server that relays is asked beside the chat; its verdict decides, as the server, and the chat hears of it', async () => {
    const [river, id] = await asking(open)
    const slack = river.server('slack')
    expect(slack.notified).toEqual([
      {
        method: 'notifications/nexo/channel/permission_request',
        params: {
          schema: 1,
          request_id: id,
          tool_name: 'Bash',
          description: 'Run the tests',
          input_preview: 'npm test -- --all',
        },
      },
    ])
    expect(river.platform.texts('anna')).toHaveLength(1)
    slack.decides(id, 'allow')
    await river.settle()
    expect(await approval(river, id)).toMatchObject({
      state: 'relayed',
      behavior: 'allow',
      decidedBy: 'server:slack',
      decidedVia: SLACK,
    })
    expect(river.agent.verdicts).toMatchObject([{ behavior: 'allow', decidedBy: 'server:slack' }])
    expect(headlines(river.platform.shown('anna'))).toEqual([`Bash (${id}): allowed by server:slack`])
    // Nothing takes a request back: the server itself is told nothing more.
    expect(slack.notified).toHaveLength(1)
    expect(slack.calls).toEqual([])
    expect(await reasons(river)).toEqual(['verdict'])
    expect(river.agent.texts()).toEqual(['go'])
  })

  it('[S9.relay-capable] a server that only another agent hears is not asked', async () => {
    const pagers = {
      channels: channels({ approved: [approved('pager')] }),
      bindings: [{ plugin: 'test', instance: 'other', allowedChannelServers: ['pager'] }],
      origin: 'agents[1]',
    }
    const river = await open({
      integrations: [CHAT, testIntegration('other')],
      mcpServers: TWO,
      agents: [hostingAgent('demo'), hostingAgent('kate', pagers)],
    })
    for (const { name } of TWO) river.server(name).up({ permissionRelay: true })
    river.agent.script = async (delivery, agent) => void (await agent.ask(delivery, RUN))
    await river.person('anna').says('go')
    await river.settle()
    expect(river.server('slack').notified).toHaveLength(1)
    expect(river.server('pager').notified).toEqual([])
  })

  it('[I14.relay-binding] [I35.b23] a host is asked about through the servers that the binding of its newest open turn admits', async () => {
    const river = await open({
      integrations: [CHAT, testIntegration('other', { access: { ...OPEN, approvers: ['anna'] } })],
      mcpServers: TWO,
      agents: [
        hostingAgent('demo', {
          channels: channels({ approved: [approved('slack'), approved('pager')] }),
          bindings: [
            { plugin: 'test', instance: 'chat', allowedChannelServers: ['slack'] },
            { plugin: 'test', instance: 'other', allowedChannelServers: ['slack', 'pager'] },
          ],
        }),
      ],
    })
    for (const { name } of TWO) river.server(name).up({ permissionRelay: true })
    river.agent.script = () => undefined
    await river.person('anna').says('in the narrow one')
    await river.settle()
    const [first] = river.agent.deliveries
    if (!first) throw new Error('nothing was handed over')
    const wide = river.person('anna', 'anna', { integration: 'other' })
    await wide.says('in the wide one')
    await river.settle()
    const second = river.agent.deliveries[1]?.turn ?? ''
    const asked = () => TWO.map(({ name }) => river.server(name).notified.length)
    const ask = async (n: number, at: { open: readonly string[]; used: boolean }) => {
      await river.agent.guess(first, { ...RUN, input: `npm test ${n}` }, at)
      await river.settle()
      return asked()
    }
    expect(await ask(1, { open: [first.turn], used: true })).toEqual([1, 0])
    expect(await ask(2, { open: [], used: true }), 'what all bindings admit').toEqual([2, 0])
    expect(await ask(3, { open: [], used: false }), 'a host never used: the agent').toEqual([3, 1])
    expect(await ask(4, { open: [first.turn, second], used: true }), 'the newest one').toEqual([4, 2])
    expect(await ask(5, { open: [second, first.turn], used: true }), 'the newest one').toEqual([5, 2])
    // Not a host, but a connector that names its turn.
    await river.agent.ask(first, RUN)
    await river.settle()
    expect(asked()).toEqual([6, 2])
  })

  it('[S10.surface-servers] where nobody else can be asked, a server that relays is enough', async () => {
    const [river, id] = await asking(open, {}, { integrations: [testIntegration('chat')] })
    expect((await approval(river, id))?.state).toBe('pending')
    river.server('slack').decides(id, 'deny')
    await river.settle()
    expect(river.agent.verdicts).toMatchObject([{ behavior: 'deny', cause: 'person' }])
  })

  it('a verdict that comes after a person answered changes nothing and is recorded as late', async () => {
    const [river, id] = await asking(open)
    await river.person('anna').says(`no ${id}`)
    await river.settle()
    river.server('slack').decides(id, 'allow')
    river.server('slack').decides(id, 'allow')
    await river.settle()
    expect(await approval(river, id)).toMatchObject({ behavior: 'deny', decidedBy: 'anna' })
    expect(await reasons(river)).toEqual(['verdict_late', 'verdict_late'])
    expect(river.agent.verdicts).toHaveLength(1)
  })

  it('two verdicts of one server at once decide once', async () => {
    const [river, id] = await asking(open)
    river.server('slack').decides(id, 'deny')
    river.server('slack').decides(id, 'allow')
    await river.settle()
    expect((await approval(river, id))?.behavior).toBe('deny')
    expect(river.agent.verdicts).toHaveLength(1)
  })

  it('a verdict whose id no store can keep is refused, and what the server says after it is heard', async () => {
    const [river, id] = await asking(open)
    river.server('slack').decides('ab\u0000de', 'allow')
    river.server('slack').decides(id, 'allow')
    await river.settle()
    expect(await reasons(river)).toEqual(['unparsable', 'verdict'])
  })

  it('[F7.relay-not-asked] [S10.server-verdict] a server that was not asked is refused, whatever id it guesses', async () => {
    const [river, id] = await asking(open, BOTH, { mcpServers: TWO })
    // It declares the capability only now: it was not asked.
    river.server('pager').up({ permissionRelay: true })
    river.server('pager').decides(id, 'allow')
    river.server('slack').decides('zzzzz', 'allow')
    await river.settle()
    expect((await approval(river, id))?.state).toBe('pending')
    expect(await reasons(river, 'channel:pager@demo')).toEqual(['not_asked'])
    expect(await reasons(river)).toEqual(['not_asked'])
  })

  it("[F7.relay-not-asked] a server cannot answer for another agent's question", async () => {
    const agents = [hostingAgent('demo'), hostingAgent('kate', { origin: 'agents[1]' })]
    const river = await open(hosting({}, { integrations: [CHAT], agents }))
    river.server('slack').up({ permissionRelay: true })
    river.agent.script = async (delivery, agent) => void (await agent.ask(delivery, RUN))
    river.agentNamed('kate').script = () => undefined
    river.server('slack').says('go', { chat_id: 'C1' })
    await river.settle()
    const [row] = await river.operator().approvals(null, 10)
    river.server('slack').decides(row?.id ?? '', 'allow')
    await river.settle()
    // One push, two agents that hear it: it counts for the one that was asked about.
    expect(await reasons(river)).toEqual([null, 'verdict'])
    expect(await reasons(river, 'channel:slack@kate')).toEqual([null, 'not_asked'])
    expect(river.agent.verdicts).toMatchObject([{ behavior: 'allow' }])
  })

  it('[F7.relay-unapproved] [S9.gates-every-verdict] a server that was asked and no longer passes its gates is refused', async () => {
    const [river, id] = await asking(open)
    await river.configure(hosting({ channels: channels({ approved: [] }) }, { integrations: [CHAT] }))
    river.server('slack').decides(id, 'allow')
    await river.settle()
    expect((await approval(river, id))?.state).toBe('pending')
    expect(await reasons(river)).toEqual(['gate_allowlist'])
    await river.person('anna').says(`yes ${id}`)
    await river.settle()
    expect(river.agent.verdicts).toMatchObject([{ behavior: 'allow', decidedBy: 'anna' }])
  })

  it('[S9.gates-every-verdict] a server that was asked and came back without the capability answers for nobody', async () => {
    const [river, id] = await asking(open)
    river.server('slack').down()
    river.server('slack').decides(id, 'allow')
    river.server('slack').up({ permissionRelay: false })
    river.server('slack').decides(id, 'allow')
    await river.settle()
    expect((await approval(river, id))?.state).toBe('pending')
    expect(new Set(await reasons(river))).toEqual(new Set(['gate_capability']))
    river.server('slack').up({ permissionRelay: true })
    river.server('slack').decides(id, 'deny')
    await river.settle()
    expect(river.agent.verdicts).toMatchObject([{ behavior: 'deny', decidedBy: 'server:slack' }])
  })

  it('[F7.relay-unapproved] [S9.relay-capable] servers that do not pass, do not relay or are away are not asked', async () => {
    const over = { ...BOTH, channels: channels({ approved: [approved('pager')] }) }
    const [river, id] = await asking(open, over, { mcpServers: TWO })
    expect(river.server('slack').notified).toEqual([])
    expect(river.server('pager').notified).toEqual([])
    // A node that does not have the server leaves it to the one that has.
    const prompts = await river.store().sends({ approval: id, states: ['sent'], limit: 10 })
    expect(prompts.map((row) => row.integration)).toEqual(['chat'])
  })

  it('a server that goes away before it is asked does not hold up the others', async () => {
    const river = await open(hosting({}, { integrations: [CHAT] }))
    river.server('slack').up({ permissionRelay: true })
    river.agent.script = async (delivery, agent) => {
      const asked = agent.ask(delivery, RUN)
      river.server('slack').becomes({ state: 'down', detail: 'it ended' })
      await asked
    }
    await river.person('anna').says('go')
    await river.settle()
    const [row] = await river.operator().approvals(null, 10)
    await river.person('anna').says(`yes ${row?.id}`)
    await river.settle()
    expect(river.agent.verdicts).toMatchObject([{ behavior: 'allow', decidedBy: 'anna' }])
  })

  it('[I8.narrow-by-id] a person behind the server may answer in words where access names them an approver', async () => {
    const access = { ...OPEN, approvers: ['U1'] }
    const mcpServers = [{ name: 'slack', options: { access } }]
    const river = await open(hosting({}, { mcpServers }))
    river.server('slack').up()
    river.agent.script = async (delivery, agent) => void (await agent.ask(delivery, RUN))
    river.server('slack').says('go', { chat_id: 'C1', user_id: 'U1' })
    await river.settle()
    const [row] = await river.operator().approvals(null, 10)
    expect(river.server('slack').calls).toMatchObject([{ input: { chat_id: 'C1' } }])
    expect(river.server('slack').texts()[0]).toContain(`Reply "yes ${row?.id}"`)
    river.server('slack').says(`yes ${row?.id}`, { chat_id: 'C1', user: 'U1' })
    await river.settle()
    expect(await reasons(river)).toEqual([null, null])
    river.server('slack').says(`yes ${row?.id}`, { chat_id: 'C1', user_id: 'U1' })
    await river.settle()
    expect(river.agent.verdicts).toMatchObject([{ behavior: 'allow', decidedBy: 'U1' }])
  })

  it('a name that reads like the id of an approver is none, wherever approvers are named', async () => {
    const users = [{ id: 'boss', identities: [`${SLACK}:U1`], notifyTo: null, roles: ['approver'] as const }]
    const [river, id] = await asking(open, {}, { users, integrations: [CHAT] })
    river.server('slack').says(`yes ${id}`, { chat_id: 'C1', user: 'U1' })
    await river.settle()
    expect((await approval(river, id))?.state).toBe('pending')
    expect(await reasons(river)).toEqual([null])
    river.server('slack').says(`yes ${id}`, { chat_id: 'C1', user_id: 'U1' })
    await river.settle()
    expect(river.agent.verdicts).toMatchObject([{ behavior: 'allow', decidedBy: 'U1' }])
  })

  it('nothing that an agent says can be taken for a request', async () => {
    const [river] = await asking(open)
    const sends = await river.store().sends({ integration: SLACK, limit: 10 })
    expect(sends.map((row) => [row.conversation, row.state, row.op?.kind])).toEqual([
      [RELAY_PLACE, 'sent', 'prompt'],
    ])
  })
})
