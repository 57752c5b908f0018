// Files that people send in Slack: fetched with the bot's token from Slack's own hosts, and checked. A token without
// permission gets the sign-in page with status 200.
import { type Attachment, type PlatformDeps, SwitchboardError } from '../../contract/index.ts'
import { createFileStore, type FileStore } from '../../kit/index.ts'
import { isSlackHost, type SlackClient } from './api/client.ts'
import { fileOf } from './attachments.ts'
import type { SlackConfig } from './config.ts'

const FETCHED = { maxBytes: 50 * 1_048_576 }
const SENT = { maxBytes: 200 * 1_048_576 }

export function createSlackFiles(
  client: SlackClient,
  config: SlackConfig,
  deps: Pick<PlatformDeps, 'filesDir' | 'random' | 'mirror'>,
): FileStore {
  // In a shared channel the message only says that there is a file.
  const ask = async (id: string) => {
    const { answer } = await client.call('files.info', { file: id }, { repeatable: true })
    const { url_private_download, url_private } = (answer.file ?? {}) as Record<string, unknown>
    const url = url_private_download ?? url_private
    if (typeof url === 'string') return url
    throw new SwitchboardError('platform_rejected', 'Slack gives no download for this file')
  }

  return createFileStore(deps, {
    async bytesOf(attachment: Attachment) {
      const { id, url } = fileOf(attachment)
      const from = url ?? (await ask(id))
      if (!isSlackHost(from, config))
        throw new SwitchboardError('platform_rejected', 'the file lies outside of Slack and is not fetched')
      const { bytes, type } = await client.download(from, FETCHED.maxBytes)
      if (isSignInPage(bytes, type) && !(attachment.mime ?? '').includes('html'))
        throw new SwitchboardError(
          'platform_rejected',
          'Slack gave the page for signing in instead of the file',
          {
            hint: 'the bot needs files:read; add it under OAuth & Permissions and install the app again',
          },
        )
      return { bytes, name: id }
    },
    fetched: FETCHED,
    sent: SENT,
  })
}

function isSignInPage(bytes: Uint8Array, type: string): boolean {
  const start = Buffer.from(bytes.subarray(0, 200)).toString('latin1').trimStart().toLowerCase()
  return type.includes('text/html') && (start.startsWith('<!doctype html') || start.startsWith('<html'))
}
