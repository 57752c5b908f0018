// Finds the built pages: beside the compiled code, or in dist/ when it runs from the sources.
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

export function webRoot(): string | null {
  for (const place of ['../web', '../../dist/web']) {
    const path = fileURLToPath(new URL(place, import.meta.url))
    if (existsSync(`${path}/index.html`)) return path
  }
  return null
}
