// Opens a page in the person's browser. A convenience: it never fails, for the link was printed anyway.
import { spawn } from 'node:child_process'

export function openBrowser(url: string): void {
  const [command, args] = openerOf(url)
  try {
    const child = spawn(command, args, { stdio: 'ignore', detached: true })
    child.on('error', () => {})
    child.unref()
  } catch {
    // No opener here.
  }
}

function openerOf(url: string): [string, string[]] {
  if (process.platform === 'darwin') return ['open', [url]]
  // `start` is a word of cmd.exe; its first quoted argument is a window title.
  if (process.platform === 'win32') return ['cmd', ['/c', 'start', '""', url.replaceAll('&', '^&')]]
  return ['xdg-open', [url]]
}
