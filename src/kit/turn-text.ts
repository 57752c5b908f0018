// A turn as a model reads it: the element with who speaks and where, what the group said before it, its files named.
import type { Delivery } from '../contract/index.ts'
import { contextBlock } from './context-lines.ts'
import { wrapChannel } from './wrap-channel.ts'

/** `files`: what is to be said of files that do not go along. `more`: further attributes. */
export function turnText(
  delivery: Delivery,
  files: readonly string[],
  more: Readonly<Record<string, string>> = {},
): string {
  const { chat_id, message_id, user, user_id, ts, platform, thread_id, edited } = delivery.meta
  const meta = given({ chat_id, message_id, user, user_id, ts, platform, thread_id, edited })
  const quoted = delivery.replyTo?.text
  const body = [contextBlock(delivery.context) + delivery.text, ...files]
    .filter((one) => one !== '')
    .join('\n')
  return wrapChannel(
    delivery.source,
    { ...meta, ...given({ reply_to_text: quoted }), ...more },
    body === '' ? '(empty message)' : body,
  ).text
}

function given(meta: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(meta).filter((entry): entry is [string, string] => entry[1] !== undefined),
  )
}
