// Media that people send, in the two steps of the API. The id is exchanged for an address, which is valid for five
// minutes and needs the token too. An expired address is requested once more.
import { createHash } from 'node:crypto'
import { type Attachment, type PlatformDeps, SwitchboardError } from '../../contract/index.ts'
import { createFileStore, type FileStore, overLimit } from '../../kit/index.ts'
import type { WhatsAppClient } from './client.ts'
import type { WhatsAppConfig } from './config.ts'
import { fieldsOf, textOf } from './fields.ts'
import { isRefusal } from './refusals.ts'

const LIMIT = { maxBytes: 100 * 1_048_576 }

export function createWhatsAppFiles(
  client: WhatsAppClient,
  config: Pick<WhatsAppConfig, 'phoneNumberId'>,
  deps: Pick<PlatformDeps, 'filesDir' | 'random' | 'mirror'>,
): FileStore {
  const addressOf = async (id: string) => {
    const path = `${encodeURIComponent(id)}?phone_number_id=${encodeURIComponent(config.phoneNumberId)}`
    const answer = await client.call(path, { repeatable: true }).catch((thrown: unknown) => {
      // An id that is not known any more is answered like one that never was.
      if (isRefusal(thrown, 100, 33, 131052)) throw gone()
      throw thrown
    })
    const url = textOf(answer.url)
    if (url === undefined)
      throw new SwitchboardError('platform_unavailable', 'WhatsApp gave no address for the media')
    if (Number(textOf(answer.file_size) ?? 0) > LIMIT.maxBytes) throw overLimit('too_large', LIMIT)
    return { url, sha256: textOf(answer.sha256) }
  }

  return createFileStore(deps, {
    async bytesOf(attachment: Attachment) {
      const { id } = mediaOf(attachment)
      const first = await addressOf(id)
      const bytes = await client.download(first.url, LIMIT.maxBytes).catch(async (thrown: unknown) => {
        if (!(thrown instanceof SwitchboardError) || thrown.code !== 'not_found') throw thrown
        const again = await addressOf(id)
        return client.download(again.url, LIMIT.maxBytes).catch((later: unknown) => {
          throw later instanceof SwitchboardError && later.code === 'not_found' ? gone() : later
        })
      })
      if (first.sha256 !== undefined && !isDigest(first.sha256, bytes))
        throw new SwitchboardError('platform_unavailable', 'the media is not what WhatsApp said it would be')
      return { bytes, name: id }
    },
    fetched: LIMIT,
    sent: LIMIT,
  })
}

function mediaOf({ ref }: Attachment): { readonly id: string } {
  try {
    const id = textOf(fieldsOf(JSON.parse(ref)).id)
    if (id !== undefined) return { id }
  } catch {
    // Reported below.
  }
  throw new SwitchboardError('platform_rejected', 'the reference of the media could not be read')
}

/** Hex, or base64 as in webhooks. Any other form proves nothing. */
function isDigest(given: string, bytes: Uint8Array): boolean {
  const digest = createHash('sha256').update(bytes).digest()
  if (/^[0-9a-f]{64}$/i.test(given)) return given.toLowerCase() === digest.toString('hex')
  return !/^[A-Za-z0-9+/]{43}=$/.test(given) || given === digest.toString('base64')
}

function gone(): SwitchboardError {
  return new SwitchboardError('platform_rejected', 'the media is gone: WhatsApp keeps it for 7 days', {
    hint: 'ask the person to send it again',
  })
}
