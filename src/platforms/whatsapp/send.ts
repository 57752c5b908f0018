// Sends one message of the API for each op. It resolves when WhatsApp took it. Every message carries its outbox id,
// which each status returns. So a lost answer is settled, and later statuses are assigned.
import { type Receipt, type SendRequest, SwitchboardError } from '../../contract/index.ts'
import type { FileStore } from '../../kit/index.ts'
import type { WhatsAppClient } from './client.ts'
import type { WhatsAppConfig } from './config.ts'
import { type Fields, fieldsOf, listOf, textOf } from './fields.ts'
import { recipientOf } from './people.ts'
import { messageOf } from './render.ts'
import type { Statuses } from './statuses.ts'
import { uploaded } from './uploads.ts'
import type { Windows } from './window.ts'

export interface SendDeps {
  readonly client: WhatsAppClient
  readonly config: WhatsAppConfig
  readonly files: Pick<FileStore, 'read'>
  readonly windows: Windows
  readonly statuses: Statuses
}

export function createSend({ client, config, files, windows, statuses }: SendDeps) {
  const contentOf = async ({ op, cause }: SendRequest): Promise<Fields> => {
    switch (op.kind) {
      case 'text':
        if (op.asFile !== undefined) {
          const { name, caption } = op.asFile
          const bytes = Buffer.from(op.text)
          return uploaded(client, config, { name, mime: 'text/plain', bytes, caption })
        }
        return messageOf(op, cause === 'notice' || cause === 'pairing')
      case 'prompt':
        return messageOf(op, true)
      case 'react':
        return { type: 'reaction', reaction: { message_id: op.on, emoji: op.emoji } }
      case 'file':
        return uploaded(client, config, { ...op, bytes: await files.read(op.ref) })
      case 'edit':
        throw new SwitchboardError('platform_rejected', 'a message of WhatsApp cannot be changed')
      case 'call':
        throw new SwitchboardError('platform_rejected', 'WhatsApp has no tools to call')
    }
  }

  return async (request: SendRequest): Promise<Receipt> => {
    const { to, op, key } = request
    if (op.kind !== 'edit' && op.kind !== 'call') await windows.check(request)
    const content = await contentOf(request)
    const replyTo = op.kind === 'text' ? op.replyTo : undefined
    const answer = await client.call(`${config.phoneNumberId}/messages`, {
      json: {
        messaging_product: 'whatsapp',
        ...recipientOf(to.conversation),
        ...content,
        ...(replyTo === undefined ? {} : { context: { message_id: replyTo } }),
        biz_opaque_callback_data: key,
      },
    })
    const wamid = textOf(fieldsOf(listOf(answer.messages)[0]).id)
    // It was accepted without an id. Its status will have one.
    if (wamid === undefined)
      throw new SwitchboardError('outcome_unknown', 'WhatsApp took it and gave no id for the message')
    statuses.sent(key, wamid)
    return { platformIds: [wamid], ...landedAt(answer, to.conversation) }
  }
}

/** Some numbers have a second form (a ninth digit in Brazil). Answers come from that one. */
function landedAt(answer: Fields, conversation: string): Pick<Receipt, 'conversation'> {
  const contact = fieldsOf(listOf(answer.contacts)[0])
  const known = textOf(contact.wa_id)
  return known === undefined || known === conversation || !/^\+?\d+$/.test(conversation)
    ? {}
    : { conversation: known }
}
