// The demo agent runs in the daemon and needs no key. It answers, asks for a permission, and sends reminders later, so
// that every part of the gateway can be tried.
import type { AgentConnector, AgentOutlet, Delivery, Verdict } from '../../contract/index.ts'
import { understand } from './understand.ts'

const HELP = [
  'I am the demo agent. Try:',
  '- `help`: this list',
  '- `deploy`: I ask for your approval first, then "run" it',
  '- `remind me in 5s to stretch`: I speak first, later (it survives a restart)',
  '- anything else: I repeat it',
].join('\n')

export function createDemoAgent(): AgentConnector {
  let outlet: AgentOutlet | null = null

  const answer = async (delivery: Delivery, text: string) => {
    const { session, turn } = delivery
    await outlet?.accept({ kind: 'say', session, turn, text, final: true })
  }

  const respond = async (delivery: Delivery): Promise<void> => {
    const { session, turn } = delivery
    const wish = understand(delivery.text)
    switch (wish.kind) {
      case 'help':
        return answer(delivery, HELP)
      case 'deploy':
        // After a restart this is the same request. Switchboard knows the call by its turn and input.
        await outlet?.accept({
          kind: 'ask',
          session,
          turn,
          ask: {
            toolName: 'Deploy',
            description: `Deploy ${wish.what} to production`,
            input: `deploy --target ${wish.what} --to production`,
          },
        })
        return
      case 'remind':
        await outlet?.accept({
          kind: 'say',
          session,
          text: `⏰ Reminder: ${wish.about}`,
          afterMs: wish.afterMs,
          idempotencyKey: `remind:${turn}`,
        })
        return answer(delivery, `I will remind you in ${wish.inWords}.`)
      case 'remind-too-far':
        return answer(delivery, 'I can remember things for up to 7 days.')
      case 'echo':
        return answer(delivery, echo(delivery))
    }
  }

  return {
    redelivery: { handed: 'again', seen: 'resume', afterTimeout: false },
    // A question that waits for a person must not delay the rest of the conversation.
    window: 32,
    // An answer is finished when it is stored, and many answers share a commit.
    overlaps: true,
    holdsDecisions: true,
    async start(given) {
      outlet = given
      given.presence(true)
    },
    async deliver(delivery) {
      await respond(delivery)
    },
    async verdict(verdict) {
      if (!verdict.turn || !outlet) return 'gone'
      await outlet.accept({
        kind: 'say',
        session: verdict.session,
        turn: verdict.turn,
        text: outcome(verdict),
        final: true,
        // After a restart the verdict may come again. The key makes sure that it is sent once.
        idempotencyKey: `verdict:${verdict.approval}`,
      })
      return 'relayed'
    },
    // Nothing runs between a question and its answer. Switchboard itself cancels the turn.
    cancel: async () => true,
    async stop() {
      outlet?.presence(false)
      outlet = null
    },
  }
}

function echo(delivery: Delivery): string {
  const files = delivery.attachments.map((file) => file.name ?? file.kind)
  const attached = files.length > 0 ? `\n(with ${files.join(', ')})` : ''
  const heard = delivery.context?.length ?? 0
  const before =
    heard === 0 ? '' : `\n(and ${heard} ${heard === 1 ? 'message' : 'messages'} before it went not to me)`
  return `You said: ${delivery.text}${attached}${before}${delivery.repeat ? '\n(delivered again after an interruption)' : ''}`
}

function outcome(verdict: Verdict): string {
  if (verdict.behavior === 'allow')
    return `🚀 Deployed: \`${verdict.ask.input}\` (allowed by ${verdict.decidedBy})`
  if (verdict.cause === 'expired') return 'Not deployed: nobody answered in time.'
  if (verdict.cause === 'unreachable') return 'Not deployed: no approver could be reached.'
  return `Not deployed: denied by ${verdict.decidedBy}.`
}
