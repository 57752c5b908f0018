// Files by Slack's external upload flow: three steps, of which only the last shows the file. A file carries no
// metadata. It is known by Slack's file id, which this process remembers as long as an answer may be lost.
import {
  createBoundedMap,
  type OutboundOp,
  type Receipt,
  type SendRequest,
  SwitchboardError,
} from '../../../contract/index.ts'
import type { FileStore } from '../../../kit/index.ts'
import { cutOf } from '../render.ts'
import { receiptOf, threadOf } from '../send-place.ts'
import { isStamp } from '../stamps.ts'
import type { SlackClient } from './client.ts'
import type { DirectChats } from './direct-chats.ts'
import { isRefusal } from './refusals.ts'

const REMEMBERED = 1_000

type Op<K extends OutboundOp['kind']> = Extract<OutboundOp, { kind: K }>
type FileWords = Op<'text'> & { readonly asFile: NonNullable<Op<'text'>['asFile']> }

export interface Uploads {
  file(request: SendRequest, op: Op<'file'>): Promise<Receipt>
  /** Sends a long text as a snippet. Throws `missing_scope` before anything is shown. */
  snippet(request: SendRequest, op: FileWords): Promise<Receipt>
  /**
   * Finds the file of a row whose answer was lost. Returns its message, null when it is not there, and undefined when
   * this cannot be known.
   */
  find(key: string, channel: string): Promise<string | null | undefined>
}

interface NewUpload {
  readonly name: string
  readonly bytes: Uint8Array
  readonly comment?: string | undefined
  readonly snippet?: true
}

export function createUploads({
  client,
  chats,
  files,
}: {
  readonly client: SlackClient
  readonly chats: DirectChats
  readonly files: Pick<FileStore, 'read'>
}): Uploads {
  const sharing = createBoundedMap<string, string>(REMEMBERED)

  const share = async (request: SendRequest, { name, bytes, comment, snippet }: NewUpload) => {
    const channel_id = await chats.channelOf(request.to.conversation)
    if (bytes.length === 0) throw new SwitchboardError('platform_rejected', 'Slack takes no empty file')
    const place = {
      filename: name,
      length: bytes.length,
      ...(snippet === undefined ? {} : { snippet_type: 'text' }),
    }
    const { answer } = await client.call('files.getUploadURLExternal', place, { repeatable: true })
    const { upload_url, file_id } = answer
    if (typeof upload_url !== 'string' || typeof file_id !== 'string')
      throw new SwitchboardError(
        'platform_unavailable',
        'Slack: files.getUploadURLExternal gave no place for the file',
      )
    await client.upload(upload_url, bytes)
    sharing.set(request.key, file_id)
    const shared = await client.call('files.completeUploadExternal', {
      files: [{ id: file_id, title: name }],
      channel_id,
      ...threadOf(request),
      ...(comment ? { initial_comment: cutOf({ text: comment }).text } : {}),
    })
    const [told] = Array.isArray(shared.answer.files) ? (shared.answer.files as readonly unknown[]) : []
    return receiptOf(sharedAs(told, channel_id) ?? file_id, request, channel_id)
  }

  return {
    file: async (request, { name, ref, caption }) =>
      share(request, { name, bytes: await files.read(ref), comment: caption }),
    snippet: (request, { text, asFile: { name, caption } }) =>
      share(request, { name, bytes: Buffer.from(text), comment: caption, snippet: true }),
    async find(key, channel) {
      const id = sharing.get(key)
      if (id === undefined) return undefined
      try {
        const { answer } = await client.call('files.info', { file: id }, { repeatable: true })
        return sharedAs(answer.file, channel)
      } catch (thrown) {
        // Before the last step the file does not exist.
        if (isRefusal(thrown, 'file_not_found', 'file_deleted')) return null
        throw thrown
      }
    },
  }
}

/**
 * Returns the message of the channel that shows the file, if Slack reports it. Slack may still be processing the file.
 */
function sharedAs(file: unknown, channel: string): string | undefined {
  const { shares } = (file ?? {}) as { readonly shares?: unknown }
  for (const kind of ['private', 'public']) {
    const places = (shares as Readonly<Record<string, unknown>> | undefined)?.[kind]
    const list = (places as Readonly<Record<string, unknown>> | undefined)?.[channel]
    const [first] = Array.isArray(list) ? (list as readonly { readonly ts?: unknown }[]) : []
    if (isStamp(first?.ts)) return first.ts
  }
  return undefined
}
