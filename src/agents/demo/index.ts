// The demo agent runs in the daemon and needs no key. It answers, asks for a permission, and sends reminders later, so
// that every part of the gateway can be tried.
import type { AgentConnector, AgentOutlet, Delivery, Verdict } from '../../contract/index.ts'
import { type Words, wordsIn } from '../../words/index.ts'
import { understand } from './understand.ts'

export function createDemoAgent(): AgentConnector {
  let outlet: AgentOutlet | null = null
  const words = wordsIn().demo

  const answer = async (delivery: Delivery, text: string) => {
    const { session, turn } = delivery
    await outlet?.accept({ kind: 'say', session, turn, text, final: true })
  }

  const respond = async (delivery: Delivery): Promise<void> => {
    const { session, turn } = delivery
    const wish = understand(delivery.text)
    switch (wish.kind) {
      case 'help':
        return answer(delivery, words.help)
      case 'deploy':
        // After a restart this is the same request. Switchboard knows the call by its turn and input.
        await outlet?.accept({
          kind: 'ask',
          session,
          turn,
          ask: {
            toolName: words.deploy.tool,
            description: words.deploy.description({ what: wish.what }),
            input: `deploy --target ${wish.what} --to production`,
          },
        })
        return
      case 'remind':
        await outlet?.accept({
          kind: 'say',
          session,
          text: words.reminder({ about: wish.about }),
          afterMs: wish.afterMs,
          idempotencyKey: `remind:${turn}`,
        })
        return answer(delivery, words.willRemind({ within: wish.inWords }))
      case 'remind-too-far':
        return answer(delivery, words.remindTooFar)
      case 'echo':
        return answer(delivery, echo(words, delivery))
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
        text: outcome(words, verdict),
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

function echo(words: Words['demo'], delivery: Delivery): string {
  const files = delivery.attachments.map((file) => file.name ?? file.kind)
  const earlier = delivery.context?.length ?? 0
  return [
    words.echo({ text: delivery.text }),
    ...(files.length > 0 ? [words.withFiles({ names: files.join(', ') })] : []),
    ...(earlier > 0 ? [words.earlier({ count: earlier })] : []),
    ...(delivery.repeat ? [words.repeated] : []),
  ].join('\n')
}

function outcome(words: Words['demo'], verdict: Verdict): string {
  const by = verdict.decidedBy
  if (verdict.behavior === 'allow') return words.deployed({ input: verdict.ask.input, by })
  if (verdict.cause === 'expired') return words.expired
  return verdict.cause === 'unreachable' ? words.unreachable : words.denied({ by })
}
