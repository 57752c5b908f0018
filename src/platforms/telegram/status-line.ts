// The agent's status as a message of its own, which is edited and deleted: silent, plain, and never the answer.
import { type Address, type StatusLine, SwitchboardError } from '../../contract/index.ts'
import type { TelegramClient } from './client.ts'
import { messageNumber, placeOf } from './render.ts'

const MARK = '⏳ '

export function createStatusLine(client: TelegramClient): StatusLine {
  const begin = async (to: Address, text: string): Promise<string> => {
    const message = await client.call('sendMessage', {
      ...placeOf(to),
      text: MARK + text,
      disable_notification: true,
      link_preview_options: { is_disabled: true },
    })
    if (typeof message?.message_id === 'number') return String(message.message_id)
    throw new SwitchboardError('outcome_unknown', 'Telegram’s answer names no message')
  }

  return {
    async show(to, text, line) {
      if (line === null) return begin(to, text)
      const { chat_id } = placeOf(to)
      const edit = { chat_id, message_id: messageNumber(line), text: MARK + text }
      await client
        .call(
          'editMessageText',
          { ...edit, link_preview_options: { is_disabled: true } },
          { repeatable: true },
        )
        .catch(unless(/message is not modified/i))
      return line
    },
    async remove(to, line) {
      const { chat_id } = placeOf(to)
      await client
        .call('deleteMessage', { chat_id, message_id: messageNumber(line) }, { repeatable: true })
        .catch(unless(/message to delete not found/i))
    },
  }
}

/** Telegram reports that nothing had to be done. */
function unless(done: RegExp): (thrown: unknown) => void {
  return (thrown) => {
    if (!(thrown instanceof SwitchboardError && done.test(thrown.message))) throw thrown
  }
}
