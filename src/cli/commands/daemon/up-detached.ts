// `switchboard up --detach`: the same daemon in the background. Returns when it is ready, and leaves it running.

import { reachOf, startInBackground } from '../../background.ts'
import type { Context } from '../../context.ts'
import { remember } from '../../own-instance.ts'
import type { UpOptions } from './up.ts'
import { announce } from './up-banner.ts'

export async function upDetached(context: Context, options: UpOptions): Promise<number> {
  const configFile = context.configFile()
  const up = [
    ...(options.host === undefined ? [] : ['--host', options.host]),
    ...(options.port === undefined ? [] : ['--port', options.port]),
  ]
  const note = await startInBackground(context, { configFile, up, fresh: options.fresh })
  remember(context)
  const reach = await reachOf(context)
  await announce(
    context,
    { url: note.url, takenPort: null, ...reach },
    { dataDir: context.folder.path, configFile, pid: note.pid, stop: 'switchboard stop' },
  )
  if (options.open === true) {
    const { openBrowser } = await import('../../open-browser.ts')
    openBrowser(reach.chatLink ?? note.url)
  }
  return 0
}
