# A product in two steps along k, then ReLU.
set  MTE1 MTE2 0
set  MTE1 MTE2 1
set  M MTE1 0
loop i 2
  wait MTE1 MTE2 0
  MTE2 gm->l1   bytes=8192 dst=l1:0
  set  MTE2 MTE1 0
  wait MTE1 MTE2 1
  MTE2 gm->l1   bytes=4096 dst=l1:8192
  set  MTE2 MTE1 1
  wait M MTE1 0
  wait MTE2 MTE1 0
  MTE1 l1->l0a  bytes=8192 src=l1:0 dst=l0a:0
  set  MTE1 MTE2 0
  wait MTE2 MTE1 1
  MTE1 l1->l0b  bytes=4096 src=l1:8192 dst=l0b:0
  set  MTE1 MTE2 1
  set  MTE1 M 0
  wait MTE1 M 0
  M    mmad     m=64 k=64 n=32 type=f16 a=l0a:0 b=l0b:0 dst=l0c:0 init=0
  set  M MTE1 0
end
wait MTE1 MTE2 0
wait MTE1 MTE2 1
wait M MTE1 0
set  M V 0
wait M V 0
V    l0c->ub  bytes=8192 cast=f32:f16 src=l0c:0 dst=ub:0
V    relu     elements=2048 type=f16 src=ub:0 dst=ub:0
S    branch   count=1
set  V MTE3 0
wait V MTE3 0
MTE3 ub->gm   bytes=4096 src=ub:0
