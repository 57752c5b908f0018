// A message that was missed and the claims of its chat: what was offered after it was said it cannot have meant.
import { expect, it } from 'vitest'
import { createScriptedHistory } from '../../src/testing/scripted/scripted-history.ts'
import { OPEN, testAgent, testIntegration } from '../../src/testing/test-settings.ts'
import { describeRiver } from './river.ts'
import { caller, outcomeOf } from './tool-caller.ts'

const MINUTE = 60_000
const CHAT = testIntegration('chat', {
  scope: 'all',
  default: true,
  access: { ...OPEN, approvers: ['boss'] },
})
const WORK = testIntegration('work', { scope: 'all' })
const AGENTS = [testAgent('front', ['chat']), testAgent('ops', ['work'])]

describeRiver('late messages and claims', (open) => {
  const opened = async () => {
    let now = () => 1_700_000_000_000
    const history = createScriptedHistory(() => now())
    const platform = { perIntegration: { chat: { history } } }
    const river = await open({ integrations: [CHAT, WORK], agents: AGENTS, platform })
    now = () => river.now()
    await river.pass(5_000)
    await river.person('build', 'ci', { integration: 'work' }).says('start')
    await river.settle()
    const session = river.agentNamed('ops').deliveries.at(-1)?.session ?? ''
    const offer = async () => {
      const input = { message: 'about the deploy', claimThread: true, claimThreadLabel: 'deploy' }
      await outcomeOf(river, river.tools().notifyUser(caller({ agent: 'ops', session }), input))
      return river.platform.arrived.at(-1)?.platformId ?? ''
    }
    const reconnect = async () => {
      await river.sleep(2 * MINUTE)
      history.connect()
      await river.settle()
    }
    const to = (agent: string) => river.agentNamed(agent).texts()
    return { river, history, offer, reconnect, to }
  }

  it('[I15.late-claim] what was said before the offer goes its own way; the next message takes the claim', async () => {
    const { river, history, offer, reconnect, to } = await opened()
    history.disconnect()
    await history.says('boss', 'boss', 'before the offer')
    await river.pass(1_000)
    await offer()
    await reconnect()
    expect(to('front')).toEqual(['before the offer'])
    await history.says('boss', 'boss', 'go')
    await river.settle()
    expect(to('ops')).toEqual(['start', '[Switched to deploy thread]\n\ngo'])
  })

  it('[I15.late-claim] what was said after the offer takes it, late as it is', async () => {
    const { river, history, offer, reconnect, to } = await opened()
    await offer()
    history.disconnect()
    await river.pass(1_000)
    await history.says('boss', 'boss', 'go')
    await reconnect()
    expect(to('ops')).toEqual(['start', '[Switched to deploy thread]\n\ngo'])
    expect(to('front')).toEqual([])
  })

  it('[I15.late-claim] an answer to the offering message goes there, whatever the clocks say', async () => {
    const { river, history, offer, reconnect, to } = await opened()
    const on = await offer()
    history.disconnect()
    await history.says('boss', 'boss', 'go', { replyTo: on, at: river.now() - 1_000 })
    await reconnect()
    expect(to('ops')).toEqual(['start', 'go'])
    expect(to('front')).toEqual([])
  })
})
