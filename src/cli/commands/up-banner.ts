// What `switchboard up` says once it is ready: where to talk to it, and how to stop it.
import type { Context } from '../context.ts'
import type { RunningDaemon } from './up.ts'

export async function announce(
  context: Context,
  daemon: RunningDaemon,
  place: { readonly dataDir: string; readonly configFile: string | null },
): Promise<void> {
  if (context.json) {
    return void (await context.printJson({
      ready: true,
      url: daemon.url,
      chat_link: daemon.chatLink,
      data: place.dataDir,
      config: place.configFile,
      pid: process.pid,
    }))
  }
  const { paint } = context
  const rows: (readonly [string, string])[] = [
    ...(daemon.chatLink === null ? [] : [['chat', paint.cyan(daemon.chatLink)] as const]),
    ...(place.configFile === null ? demoHook(daemon.url) : []),
    ['config', place.configFile ?? 'the embedded default (write your own with: switchboard init)'],
    ['data', place.dataDir],
    ...(daemon.takenPort
      ? [['port', paint.yellow(`${daemon.takenPort} is taken by another process`)] as const]
      : []),
    ['stop', 'Ctrl-C'],
  ]
  const lines = rows.map(([name, value]) => `  ${paint.dim(name.padEnd(7))} ${value}`)
  await context.print(
    [`${paint.green('●')} Switchboard is up at ${paint.bold(daemon.url)}`, '', ...lines, ''].join('\n'),
  )
}

/** The embedded default's webhook, ready to copy. A file of one's own says for itself what it needs. */
function demoHook(url: string): (readonly [string, string])[] {
  return [
    ['listen', `curl -N -H 'X-Sender: dev' ${url}/hooks/demo/events`],
    ['say', `curl -H 'X-Sender: dev' -d 'hello' ${url}/hooks/demo`],
  ]
}
