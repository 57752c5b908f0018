// The assets of the built pages. Their names contain a hash of the content, so they are cached for good.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { HttpReply } from '../contract/index.ts'
import { notFound } from './reply.ts'

const TYPES: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  html: 'text/html; charset=utf-8',
  ico: 'image/x-icon',
  js: 'text/javascript; charset=utf-8',
  json: 'application/json',
  map: 'application/json',
  png: 'image/png',
  svg: 'image/svg+xml',
  txt: 'text/plain; charset=utf-8',
  webmanifest: 'application/manifest+json',
  webp: 'image/webp',
  woff2: 'font/woff2',
}

// Letters, digits and a few signs, and no segment with a leading dot, so no name leads outside.
const NAME = /^(?:[A-Za-z0-9_-][A-Za-z0-9._-]*\/)*[A-Za-z0-9_-][A-Za-z0-9._-]*\.([a-z0-9]+)$/

export interface WebFiles {
  /** `name` is the undecoded rest after `/assets/`. `accepted` are the encodings that the browser accepts. */
  asset(name: string, accepted?: string | undefined): Promise<HttpReply>
  /** Returns a page of the root. It is never cached, because it names the assets of its build. */
  page(name: string): Promise<HttpReply>
}

const squeeze = promisify(gzip)
const SQUEEZED = ['css', 'js', 'svg']

/** Judged by the name alone. The weights of the header are ignored. */
function takesGzip(accepted: string | undefined): boolean {
  return (accepted ?? '').split(',').some((one) => /^\s*gzip\s*(;\s*q=(?!0(\.0*)?\s*$).*)?$/.test(one))
}

export function createWebFiles(webRoot: string | null): WebFiles {
  const kept = new Map<string, Buffer>()
  /** Compressed once per file, at its first request. */
  const small = new Map<string, Promise<Buffer>>()
  return {
    async asset(name, accepted) {
      const ending = NAME.exec(name)?.[1] ?? ''
      const type = TYPES[ending]
      if (webRoot === null || type === undefined) return notFound()
      let body = kept.get(name)
      if (body === undefined) {
        try {
          body = await readFile(join(webRoot, 'assets', name))
        } catch {
          return notFound()
        }
        kept.set(name, body)
      }
      const headers = { 'content-type': type, 'cache-control': 'public, max-age=31536000, immutable' }
      if (!SQUEEZED.includes(ending)) return { status: 200, headers, body }
      const varied = { ...headers, vary: 'accept-encoding' }
      if (!takesGzip(accepted)) return { status: 200, headers: varied, body }
      const squeezed = small.get(name) ?? squeeze(body)
      small.set(name, squeezed)
      return { status: 200, headers: { ...varied, 'content-encoding': 'gzip' }, body: await squeezed }
    },
    async page(name) {
      const body = webRoot === null ? null : await readFile(join(webRoot, name)).catch(() => null)
      if (body === null) return notFound('the pages are not built: npm run build')
      return { status: 200, headers: { 'content-type': TYPES.html ?? '', 'cache-control': 'no-cache' }, body }
    },
  }
}
