// People of the scripted platform. They write and tap through the intake of their integration.
import {
  type Attachment,
  defined,
  type InboundEvent,
  type Quoted,
  type Received,
} from '../../contract/index.ts'
import type { Arrived } from './scripted-platform.ts'

export interface Person {
  says(text: string, options?: SayOptions): Promise<Received>
  /** Presses the button with this label, on the newest message of the conversation that has it. */
  taps(label: string): Promise<Received>
  sends(event: Partial<InboundEvent> & { readonly kind: InboundEvent['kind'] }): Promise<Received>
}

export interface SayOptions {
  readonly messageId?: string
  readonly editVersion?: number
  readonly thread?: string
  readonly mentioned?: boolean
  readonly kind?: 'message' | 'edit'
  readonly attachments?: readonly Attachment[]
  readonly meta?: Readonly<Record<string, string>>
  readonly replyTo?: Quoted
  /** True sends no message id, as a platform without ids does. */
  readonly noId?: boolean
}

export interface PersonOptions {
  readonly integration?: string
  readonly name?: string
  readonly chat?: 'direct' | 'group'
  readonly isBot?: boolean
}

interface PeopleDeps {
  receive(integration: string, events: readonly InboundEvent[]): Promise<readonly Received[]>
  arrivedIn(conversation: string, integration: string): readonly Arrived[]
  nextId(prefix: string): string
}

export function createPeople(deps: PeopleDeps) {
  const { nextId } = deps
  return (conversation: string, sender: string, about: PersonOptions = {}): Person => {
    const integration = about.integration ?? 'chat'
    const base = (thread?: string) => ({
      conversation,
      chat: about.chat ?? ('direct' as const),
      sender: {
        id: sender,
        ...defined({ name: about.name, isBot: about.isBot }),
      },
      at: 0,
      ...defined({ thread }),
    })
    const one = async (event: InboundEvent): Promise<Received> => {
      const [received] = await deps.receive(integration, [event])
      if (!received) throw new Error('the intake answered nothing')
      return received
    }
    return {
      says(text, { thread, noId, kind = 'message', ...more } = {}) {
        const id = noId ? {} : { messageId: more.messageId ?? nextId('m') }
        return one({ ...base(thread), kind, text, ...more, ...id })
      },
      taps(label) {
        const found = deps
          .arrivedIn(conversation, integration)
          .toReversed()
          .flatMap(({ op, platformId }) =>
            ('choices' in op ? (op.choices ?? []) : []).map((choice) => ({ choice, platformId })),
          )
          .find(({ choice }) => choice.label === label)
        if (!found) throw new Error(`there is no button "${label}" in ${conversation}`)
        const { choice, platformId } = found
        return one({
          ...base(),
          kind: 'tap',
          messageId: nextId('tap'),
          on: platformId,
          value: choice.value,
        })
      },
      sends: (event) => one({ ...base(), messageId: nextId('m'), ...event } as InboundEvent),
    }
  }
}
