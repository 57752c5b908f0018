// Peer (a): a bare `node:http` server that checks the same signature, parses the JSON, and stores nothing.
import { serveSignedPosts } from './signed-post.ts'

serveSignedPosts(process.env.BENCH_SECRET ?? '', (_post, done) => done())
