// The bytes of what a person sent, from whichever integration took it.
import { readFile } from 'node:fs/promises'
import { SwitchboardError } from '../../contract/index.ts'
import type { Links } from '../../core/links.ts'
import type { FileBytes } from './people-data.ts'

export function fileBytes(links: Pick<Links, 'get'>): FileBytes {
  return async (integration, file) => {
    const adapter = links.get(integration)?.adapter
    if (!adapter?.files?.download)
      throw new SwitchboardError(
        'not_found',
        `the integration ${integration} does not run, or keeps no files`,
      )
    const { path, name, mime } = await adapter.files.download(file)
    return { name, mime, bytes: await readFile(path) }
  }
}
