// Files that people send in Discord, from its own hosts. Their addresses are signed and expire. An expired one is
// requested again with its message.
import { type Attachment, type PlatformDeps, SwitchboardError } from '../../contract/index.ts'
import { createFileStore, type FileStore } from '../../kit/index.ts'
import type { DiscordClient } from './api/client.ts'
import { attachmentsOf, type FileRef, fileRef, stickerFile } from './attachments.ts'
import type { DiscordConfig } from './config.ts'
import { isDiscordHost } from './verify.ts'

const FETCHED = { maxBytes: 50 * 1_048_576 }
const SENT = { maxBytes: 100 * 1_048_576 }
const STICKERS = 'https://media.discordapp.net/stickers/'

export function createDiscordFiles(
  client: DiscordClient,
  config: DiscordConfig,
  deps: Pick<PlatformDeps, 'filesDir' | 'random' | 'mirror'>,
): FileStore {
  const bytesAt = async (url: string): Promise<Buffer | null> => {
    if (!isDiscordHost(url, config))
      throw new SwitchboardError('platform_rejected', 'the file lies outside of Discord and is not fetched')
    return client.download(url, FETCHED.maxBytes)
  }

  /** Returns a fresh address of the file. */
  const fresh = async ({ channel, message, file }: FileRef): Promise<string | undefined> => {
    const answer = await client.call('GET', `/channels/${channel}/messages/${message}`, { repeatable: true })
    const found = attachmentsOf(answer, `${channel} ${message}`).find(({ id }) => id === file)
    return found === undefined ? undefined : fileRef(found)?.url
  }

  return createFileStore(deps, {
    async bytesOf(attachment: Attachment) {
      const ref = fileRef(attachment)
      const url = ref === null ? STICKERS + stickerFile(attachment) : ref.url
      let bytes = await bytesAt(url)
      if (bytes === null && ref !== null) {
        const again = await fresh(ref)
        bytes = again === undefined ? null : await bytesAt(again)
      }
      if (bytes === null)
        throw new SwitchboardError('platform_rejected', 'Discord does not have the file any more')
      return { bytes, name: attachment.id }
    },
    fetched: FETCHED,
    sent: SENT,
  })
}
