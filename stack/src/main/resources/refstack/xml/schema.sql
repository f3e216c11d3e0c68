drop table if exists document;

create table document (
  id        text primary key,
  way       text not null,
  rows      int  not null,
  total     numeric(18,2) not null,
  bytes_in  int  not null,
  bytes_out int  not null,
  sha256    text not null,
  stored_at timestamptz not null default clock_timestamp()
);
